"""A dataset of a plan: as the trials see it, and what a round is generated from."""


def test_a_dataset_of_a_plan_has_its_hash_and_no_reference(planned):
    dataset = planned().datasets["blobs"]
    assert dataset.label == dataset.data.name == "blobs"
    assert len(dataset.sha256) == 64
    assert dataset.reference is None
