"""Third-party packages of generated code: the allowlist, and the cache of installed sets.

Packages are installed on the host, from wheels only, into a folder of the user's cache:

    installed = PackageStore().install(["numpy"])
    run = sandbox.with_packages(installed).run_tests(code, tests)
"""

from greenloop.dependencies.allowlist import PackageAllowlist, PackageResolver
from greenloop.dependencies.store import InstalledPackages, PackageStore

__all__ = ["InstalledPackages", "PackageAllowlist", "PackageResolver", "PackageStore"]
