"""Choice of the sandbox by the settings: the requested one, or an error."""

import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint

import pytest

from greenloop import plugins
from greenloop.errors import SandboxError
from greenloop.sandbox import Sandbox, factory, open_sandbox
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox
from greenloop.sandbox.factory import SandboxFactory
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.self_check import check_isolation
from greenloop.settings import Settings
from tests.integration.sandbox.conftest import (
    KINDS,
    container_engine,
    isolating_kinds,
    make_sandbox,
    skip_reason,
)
from tests.support.container_image import IMAGE

Machine = Callable[..., None]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return a function that limits the machine to these kinds of sandbox."""

    def having(**kinds: SandboxFactory) -> None:
        monkeypatch.setattr(factory, "_list_factories", lambda *_: kinds)

    return having


def missing(limits: ResourceLimits) -> Sandbox:
    raise SandboxError("the kernel says no")


def test_none_is_described_in_capitals() -> None:
    with open_sandbox(Settings.load(sandbox="none")) as box:
        assert box.info.backend == "none"
        assert box.info.isolation.startswith("NONE: ")


@pytest.mark.skipif(sys.platform != "linux", reason="Linux only")
def test_auto_selects_the_first_kind_that_works() -> None:
    with open_sandbox(Settings.load()) as box:
        assert box.info.backend == isolating_kinds()[0]
        check_isolation(box)


@pytest.mark.parametrize("kind", KINDS)
def test_every_backend_opens(kind: str) -> None:
    if reason := skip_reason(kind):
        pytest.skip(f"{kind} is not tested: {reason}")
    chosen = {"container_engine": container_engine().name} if kind == "container" else {}
    with open_sandbox(Settings.load(sandbox=kind, container_image=IMAGE, **chosen)) as box:
        assert box.info.backend == kind


def test_self_check_detects_missing_isolation() -> None:
    with make_sandbox("none") as box, pytest.raises(SandboxError, match="does not hold: reads"):
        check_isolation(box)


def test_auto_raises_with_every_reason_where_nothing_works(machine: Machine) -> None:
    machine(native=missing, landlock=ProcessSandbox)  # the second one runs, without isolation
    with pytest.raises(SandboxError) as caught:
        open_sandbox(Settings.load())
    error = str(caught.value)
    assert caught.value.exit_status == 4
    assert "native: the kernel says no" in error
    assert "landlock: none: the isolation does not hold: reads" in error
    for remedy in ("bubblewrap", "user namespaces", "podman", "--sandbox none", "your files"):
        assert remedy in error


def test_auto_tries_the_next_kind(machine: Machine) -> None:
    if not isolating_kinds():
        pytest.skip("this machine has no sandbox")
    best = isolating_kinds()[-1]
    machine(**{"fortress": missing, best: lambda limits: make_sandbox(best, limits)})
    with open_sandbox(Settings.load()) as box:
        assert box.info.backend == isolating_kinds()[-1]


@pytest.mark.parametrize("kind", ["fortress", "process", "native"])
def test_unavailable_kind_is_not_replaced(kind: str, machine: Machine) -> None:
    machine(native=missing, landlock=missing)
    with pytest.raises(SandboxError, match=f"^--sandbox .*{kind}") as caught:
        open_sandbox(Settings.load(sandbox=kind))
    if kind != "native":
        assert "choose one of auto, native, landlock, none" in str(caught.value)


def test_limits_come_from_the_settings() -> None:
    with open_sandbox(Settings.load(sandbox="none", timeout_s=0.5)) as box:
        run = box.run_tests("while True: pass", "from solution import f\ndef test_a(): pass")
    assert run.ending == "timeout"
    assert run.duration_s < 10


def register_sandbox(monkeypatch: pytest.MonkeyPatch, create: Callable[..., object]) -> None:
    """Register a function as if an installed package had an entry point for it."""
    point = EntryPoint("vm", "some_package:create", "greenloop.sandboxes")
    monkeypatch.setattr(EntryPoint, "load", lambda self: create)
    found = {"greenloop.sandboxes": [point]}
    monkeypatch.setattr(plugins, "entry_points", lambda group: found.get(group, []))


def test_a_registered_sandbox_is_opened_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    if not isolating_kinds():
        pytest.skip("this machine has no sandbox")
    opened: list[tuple[Settings, ResourceLimits]] = []

    def create(settings: Settings, limits: ResourceLimits) -> Sandbox:
        opened.append((settings, limits))
        return make_sandbox(isolating_kinds()[0], limits)

    register_sandbox(monkeypatch, create)
    settings = Settings.load(sandbox="vm", timeout_s=17)
    with open_sandbox(settings) as box:
        assert box.run_tests("X = 1", "from m import X\ndef test_x(): assert X == 1\n").passed
    assert [(item[0], item[1].timeout_s) for item in opened] == [(settings, 17)]


def test_a_registered_sandbox_must_pass_the_self_check(monkeypatch: pytest.MonkeyPatch) -> None:
    register_sandbox(monkeypatch, lambda settings, limits: ProcessSandbox(limits))
    with pytest.raises(SandboxError, match=r"^--sandbox vm: .*does not hold: reads"):
        open_sandbox(Settings.load(sandbox="vm"))


def test_a_plugin_that_returns_no_sandbox_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    register_sandbox(monkeypatch, lambda settings, limits: "vm")
    with pytest.raises(
        SandboxError, match=r"^--sandbox vm: the plugin returned no Sandbox but str"
    ):
        open_sandbox(Settings.load(sandbox="vm"))


def test_an_unknown_kind_lists_the_registered_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    register_sandbox(monkeypatch, ProcessSandbox)
    with pytest.raises(SandboxError, match=r"choose one of auto, .*container, vm, none"):
        open_sandbox(Settings.load(sandbox="fortress"))
