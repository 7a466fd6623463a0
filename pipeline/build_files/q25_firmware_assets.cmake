# q25_firmware_assets(TARGET MANIFEST OUT [NAME name] [SOURCES file...] [ARGS argument...])
#
# Runs the manifest as a step of the build, and takes what its step `firmware` writes into TARGET: the
# assembly of the linked assets, the folders of the headers, and, for the linker script's INCLUDE, the
# folder of the fragment. Nothing runs where nothing changed; the manifest, the model and the tool are
# inputs, and a run that fails fails the build.
#
#   TARGET    an executable or library, defined before
#   MANIFEST  relative to the current source folder, or absolute
#   OUT       the folder of the artifacts; relative to the current binary folder, or absolute
#   NAME      the step's parameter `name`, where the manifest gives another than q25_assets
#   SOURCES   C files among the artifacts to compile into TARGET, as chat_frames.c or model_table.c
#   ARGS      more arguments of `pipeline run`, as --no-fallback or --set KEY=VALUE
#
# PIPELINE_COMMAND is the tool, where it is not `pipeline` on the path; a list, as "python3;-m;pipeline".
# Needs CMake 3.21, and the language ASM.
include_guard(GLOBAL)

function(q25_firmware_assets target manifest out)
  cmake_parse_arguments(PARSE_ARGV 3 given "" "NAME" "SOURCES;ARGS")
  if(given_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "q25_firmware_assets: unknown arguments: ${given_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT given_NAME)
    set(given_NAME q25_assets)
  endif()
  if(NOT PIPELINE_COMMAND)
    find_program(PIPELINE_COMMAND pipeline REQUIRED)
  endif()
  cmake_path(ABSOLUTE_PATH manifest BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
  cmake_path(ABSOLUTE_PATH out BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" NORMALIZE)
  cmake_path(GET manifest FILENAME manifest_name)

  # The artifacts keep their time where their bytes did not change, so the rule's output is a file of
  # its own; the artifacts are by-products, and what depends on one is built again where that changed.
  set(stamp "${CMAKE_CURRENT_BINARY_DIR}/${target}.${given_NAME}.stamp")
  set(parts "${out}/firmware/${given_NAME}")
  list(TRANSFORM given_SOURCES PREPEND "${out}/" OUTPUT_VARIABLE sources)
  add_custom_command(
    OUTPUT "${stamp}"
    BYPRODUCTS "${parts}.S" "${parts}.h" "${parts}.ld" ${sources}
    COMMAND ${PIPELINE_COMMAND} run "${manifest}" --out "${out}" --wait ${given_ARGS}
            --depfile "${stamp}.d" --depfile-target "${stamp}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
    DEPENDS "${manifest}"
    DEPFILE "${stamp}.d"
    COMMENT "Assets of ${manifest_name}"
    VERBATIM)
  add_custom_target(${target}_${given_NAME} DEPENDS "${stamp}")
  add_dependencies(${target} ${target}_${given_NAME})

  set_source_files_properties("${parts}.S" PROPERTIES GENERATED TRUE LANGUAGE ASM)
  set_source_files_properties(${sources} PROPERTIES GENERATED TRUE)
  target_sources(${target} PRIVATE "${parts}.S" ${sources})
  target_include_directories(${target} PRIVATE "${out}/firmware" "${out}")
  target_link_directories(${target} PRIVATE "${out}/firmware")
  # The linker reads the fragment by itself; the assembly changes wherever an asset does.
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${parts}.ld")
endfunction()
