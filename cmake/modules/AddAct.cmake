# Finds MLIR and defines the functions that add act targets. This is the only
# place that knows that Debian ships MLIR as one shared library.

find_package(MLIR 22.1 REQUIRED CONFIG)
message(STATUS "Using MLIR ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}")

# MLIRConfig.cmake does not export this; see docs/Building.md.
set(MLIR_LINK_MLIR_DYLIB ON)
set(LLVM_RUNTIME_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/bin)
set(LLVM_LIBRARY_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/lib)
set(MLIR_BINARY_DIR ${CMAKE_BINARY_DIR})
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
# After find_package, which resets it to what the packages were built with.
set(LLVM_ENABLE_ASSERTIONS ${ACT_ENABLE_ASSERTIONS})
# Read by HandleLLVMOptions and set only in LLVM's own tree.
set(LLVM_UBSAN_FLAGS
  "-fsanitize=undefined -fno-sanitize=vptr,function -fno-sanitize-recover=all")

include(TableGen)
include(AddLLVM)
include(AddMLIR)
include(HandleLLVMOptions)

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
separate_arguments(act_llvm_definitions NATIVE_COMMAND ${LLVM_DEFINITIONS})
add_definitions(${act_llvm_definitions})

# With sanitizers everything uses one shared copy of their runtime, so that the
# plugin works in Debian's mlir-opt, which gets the runtime preloaded.
if(LLVM_USE_SANITIZER AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  execute_process(
    COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libclang_rt.asan-x86_64.so
    OUTPUT_VARIABLE ACT_SANITIZER_RUNTIME
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  get_filename_component(act_sanitizer_dir "${ACT_SANITIZER_RUNTIME}" DIRECTORY)
  add_compile_options(-shared-libasan)
  add_link_options(-shared-libasan "-Wl,-rpath,${act_sanitizer_dir}")
endif()

# The headers that nearly every file of act includes, compiled once. ccache can
# keep what is built with them if no time stamp is inside, and with the
# CCACHE_SLOPPINESS that CMakePresets.json sets.
if(ACT_ENABLE_PCH)
  add_compile_options(
    "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")
  set(act_pch_source "${CMAKE_BINARY_DIR}/ActPrecompiledHeaders.cpp")
  if(NOT EXISTS "${act_pch_source}")
    file(WRITE "${act_pch_source}" "")
  endif()
  add_library(ActPrecompiledHeaders OBJECT "${act_pch_source}")
  llvm_update_compile_flags(ActPrecompiledHeaders)
  set(act_pch_headers
    <mlir/Bytecode/BytecodeOpInterface.h>
    <mlir/IR/Builders.h>
    <mlir/IR/BuiltinAttributes.h>
    <mlir/IR/BuiltinTypes.h>
    <mlir/IR/DialectImplementation.h>
    <mlir/IR/OpDefinition.h>
    <mlir/IR/PatternMatch.h>
    <mlir/Interfaces/FunctionInterfaces.h>
    <mlir/Interfaces/SideEffectInterfaces.h>
    <mlir/Pass/Pass.h>
    <llvm/ADT/TypeSwitch.h>)
  target_precompile_headers(ActPrecompiledHeaders PRIVATE ${act_pch_headers})
  # The same, and the dialects that kernels are made of, which take ten seconds.
  add_library(ActKernelPrecompiledHeaders OBJECT "${act_pch_source}")
  llvm_update_compile_flags(ActKernelPrecompiledHeaders)
  target_precompile_headers(ActKernelPrecompiledHeaders PRIVATE
    ${act_pch_headers}
    <mlir/Dialect/Arith/IR/Arith.h>
    <mlir/Dialect/GPU/IR/GPUDialect.h>
    <mlir/Dialect/LLVMIR/LLVMDialect.h>
    <mlir/Dialect/LLVMIR/NVVMDialect.h>
    <mlir/Dialect/Linalg/IR/Linalg.h>
    <mlir/Dialect/Math/IR/Math.h>
    <mlir/Dialect/MemRef/IR/MemRef.h>
    <mlir/Dialect/SCF/IR/SCF.h>
    <mlir/Dialect/Vector/IR/VectorOps.h>)
endif()

# Makes `target` use precompiled headers: those of ActPrecompiledHeaders, or of the
# target that is named.
function(act_use_pch target)
  if(ACT_ENABLE_PCH)
    # add_mlir_library compiles the sources in an object library of its own.
    if(TARGET obj.${target})
      set(target obj.${target})
    endif()
    set(headers ActPrecompiledHeaders)
    if(ARGC GREATER 1)
      set(headers ${ARGV1})
    endif()
    target_precompile_headers(${target} REUSE_FROM ${headers})
  endif()
endfunction()

# act_add_library(NAME SOURCES... [DEPENDS targets...] [LINK_LIBS act libraries...]
#                 [MLIR_LIBS MLIR libraries...] [KERNEL_HEADERS])
# Adds a static library. MLIR_LIBS become the one shared library of MLIR. With
# KERNEL_HEADERS the headers of the dialects that kernels are made of are precompiled,
# too.
function(act_add_library name)
  cmake_parse_arguments(ARG "KERNEL_HEADERS" "" "DEPENDS;LINK_LIBS;MLIR_LIBS"
    ${ARGN})
  add_mlir_library(${name} STATIC
    ${ARG_UNPARSED_ARGUMENTS}
    DEPENDS ${ARG_DEPENDS}
    LINK_LIBS PUBLIC ${ARG_LINK_LIBS}
    DISABLE_INSTALL)
  mlir_target_link_libraries(${name} PUBLIC MLIRIR ${ARG_MLIR_LIBS})
  if(ARG_KERNEL_HEADERS)
    act_use_pch(${name} ActKernelPrecompiledHeaders)
  else()
    act_use_pch(${name})
  endif()
endfunction()

# act_add_tool(NAME SOURCES... [LINK_LIBS act libraries...] [MLIR_LIBS MLIR libraries...])
# Adds bin/NAME.
function(act_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS;MLIR_LIBS" ${ARGN})
  add_llvm_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  llvm_update_compile_flags(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS})
  mlir_target_link_libraries(${name} PRIVATE ${ARG_MLIR_LIBS})
endfunction()

# Makes the shared library `target` export only what cmake/exports/<kind>.map
# names.
function(act_limit_exports target kind)
  set(map "${PROJECT_SOURCE_DIR}/cmake/exports/${kind}.map")
  target_link_options(${target} PRIVATE "-Wl,--version-script,${map}")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${map}")
endfunction()

# act_add_plugin(NAME SOURCES... [LINK_LIBS act libraries...] [MLIR_LIBS MLIR libraries...])
# Adds lib/NAME.so, which mlir-opt loads.
function(act_add_plugin name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS;MLIR_LIBS" ${ARGN})
  add_llvm_library(${name} MODULE BUILDTREE_ONLY ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS})
  mlir_target_link_libraries(${name} PRIVATE MLIRIR ${ARG_MLIR_LIBS})
  act_limit_exports(${name} plugin)
endfunction()

# act_add_capi_library(NAME SOURCES... [LINK_LIBS act libraries...]
#                      [MLIR_CAPI_LIBS MLIR C API archives...])
# Adds lib/libNAME.so, which exports C functions only. MLIR's C API is not part
# of its shared library, so the archives are embedded whole.
function(act_add_capi_library name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS;MLIR_CAPI_LIBS" ${ARGN})
  add_library(${name} SHARED ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${LLVM_LIBRARY_OUTPUT_INTDIR})
  llvm_update_compile_flags(${name})
  set(archives ${ARG_MLIR_CAPI_LIBS})
  list(TRANSFORM archives REPLACE "(.+)" "$<TARGET_FILE:\\1>")
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS}
    -Wl,--whole-archive ${archives} -Wl,--no-whole-archive MLIR LLVM)
  act_limit_exports(${name} capi)
endfunction()

# act_add_unittest(NAME SOURCES... [LINK_LIBS libraries...])
# Adds a gtest program to the current binary directory. NAME must end in Tests:
# that is how lit finds it.
add_custom_target(ActUnitTests)
function(act_add_unittest name)
  if(NOT name MATCHES "Tests$")
    message(FATAL_ERROR "act_add_unittest: ${name} does not end in Tests")
  endif()
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  llvm_update_compile_flags(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS}
    GTest::gmock GTest::gtest_main)
  mlir_target_link_libraries(${name} PRIVATE MLIRIR)
  add_dependencies(ActUnitTests ${name})
endfunction()
