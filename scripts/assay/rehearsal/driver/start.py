"""What the C half runs at its first call: imports the handlers beside it and lets them fill its table.

It runs in a namespace of its own, under whatever interpreter holds the library.
"""

import importlib
import importlib.util
import os
import sys

_FOLDER = os.path.dirname(os.path.realpath(__file__))  # noqa: PTH120  # pathlib is an import that a host may lack
_NAME = "assay_rehearsal"

if _NAME not in sys.modules:
    _PLACE = os.path.join(_FOLDER, _NAME)  # noqa: PTH118  # as above
    _SPEC = importlib.util.spec_from_file_location(
        _NAME,
        os.path.join(_PLACE, "__init__.py"),  # noqa: PTH118  # as above
        submodule_search_locations=[_PLACE],
    )
    if _SPEC is None or _SPEC.loader is None:
        raise ImportError(_PLACE)
    _PACKAGE = importlib.util.module_from_spec(_SPEC)
    sys.modules[_NAME] = _PACKAGE
    _SPEC.loader.exec_module(_PACKAGE)

importlib.import_module(_NAME + ".driver.table").fill(globals()["TABLE"])  # the C half puts the address here
