"""The kinds of runs that repair an existing file."""

from typing import Final

from greenloop.workflow.heal.delivery import deliver_healed_file, deliver_healed_script
from greenloop.workflow.heal.module import HealModuleStrategy
from greenloop.workflow.heal.request import HealModuleRequest, HealScriptRequest
from greenloop.workflow.heal.script import HealScriptStrategy
from greenloop.workflow.kind import Kind

HEAL_MODULE: Final = Kind(HealModuleRequest, HealModuleStrategy, deliver_healed_file)
HEAL_SCRIPT: Final = Kind(HealScriptRequest, HealScriptStrategy, deliver_healed_script)
