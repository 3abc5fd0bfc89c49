"""Small parts of sentences that several rooms share."""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    Parameters
    ----------
    number : int
    noun : str
        Singular; its plural ends in "s".

    Examples
    --------
    >>> counted(1, "dataset"), counted(2, "dataset")
    ('1 dataset', '2 datasets')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"
