"""From the name of an executor to its engine, and a sentence where that is impossible."""

from __future__ import annotations

from mfbench.engines import Engine, Executor
from mfbench.errors import MfbenchError, PluginError, UnknownNameError, UsageError, describe_error
from mfbench.host.factories import import_object, remedy
from mfbench.host.registered import Registered
from mfbench.host.registry import LOCAL, Registry
from mfbench.host.spec_checks import shown


def check_executor(registry: Registry, name: str, scheduler: str) -> None:
    """Raise an error if a run cannot have this executor: before it has written anything."""
    if name == LOCAL and scheduler:
        raise UsageError(f"--scheduler {scheduler} needs --executor: the processes of this machine have no scheduler")
    if name != LOCAL:
        make_engine(registry, name, scheduler, 1)  # which starts nothing


def make_engine(registry: Registry, name: str, scheduler: str, jobs: int) -> Engine | Executor:
    """Build the engine of an executor, or the executor itself if its factory makes that; nothing is started."""
    registered = _look_up(registry, name)
    try:
        factory = registered.spec.factory
        engine = (import_object(factory) if isinstance(factory, str) else factory)(scheduler, jobs)
    except (KeyboardInterrupt, MfbenchError):
        raise
    except ImportError as error:
        raise PluginError(f"executor {name!r} needs {_missing(error)}: {remedy(registered)}") from error
    except BaseException as error:
        raise PluginError(
            f"executor {name!r} of {registered.plugin} cannot be used: {describe_error(error)}"
        ) from error
    if not isinstance(engine, Engine | Executor):
        raise PluginError(
            f"executor {name!r} of {registered.plugin} cannot be used: its factory returned {shown(engine)}, "
            "expected an mfbench.engines.Engine"
        )
    return engine


def _look_up(registry: Registry, name: str) -> Registered:
    try:
        return registry.executor(name)
    except UnknownNameError:
        raise UnknownNameError("executor", name, [LOCAL, *registry.executors], "see 'mfbench plugins'") from None


def _missing(error: ImportError) -> str:
    return f"the package {error.name!r}" if isinstance(error, ModuleNotFoundError) and error.name else str(error)
