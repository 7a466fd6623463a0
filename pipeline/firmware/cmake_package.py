"""The CMake package of a build: a library to link, for trees that run this tool on their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.firmware.assets import Asset


def cmake_package(name: str, assets: Sequence[Asset]) -> str:
    """Write NAME-config.cmake, which `find_package(NAME CONFIG)` reads."""
    files = [asset.name for asset in assets if asset.address is None]
    depends = "".join(f'\n    "${{{name}_FOLDER}}/{_escaped(file)}"' for file in files)
    return f"""\
# find_package({name} CONFIG REQUIRED PATHS OUT/firmware NO_DEFAULT_PATH)
# target_link_libraries(TARGET PRIVATE {name}::{name})
#
# {name}_FOLDER         the folder of the artifacts
# {name}_FILES          the files that are linked
# {name}_LINKER_SCRIPT  what the linker script includes; its folder is a library path (-L)
get_filename_component({name}_FOLDER "${{CMAKE_CURRENT_LIST_DIR}}/.." ABSOLUTE)
set({name}_FILES{depends})
set({name}_LINKER_SCRIPT "${{CMAKE_CURRENT_LIST_DIR}}/{name}.ld")
set_source_files_properties("${{CMAKE_CURRENT_LIST_DIR}}/{name}.S" PROPERTIES OBJECT_DEPENDS "${{{name}_FILES}}")
if(NOT TARGET {name}::{name})
  # Not imported: compilers do not hand the folders of imported targets on to the assembler.
  add_library({name} INTERFACE)
  add_library({name}::{name} ALIAS {name})
  target_sources({name} INTERFACE "${{CMAKE_CURRENT_LIST_DIR}}/{name}.S")
  target_include_directories({name} INTERFACE "${{CMAKE_CURRENT_LIST_DIR}}" "${{{name}_FOLDER}}")
endif()
"""


def _escaped(text: str) -> str:
    r"""Escape a text for a quoted argument of CMake.

    >>> _escaped('a"$b')
    'a\\"\\$b'
    """
    return "".join(f"\\{character}" if character in '"\\$;' else character for character in text)
