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

include(TableGen)
include(AddLLVM)
include(AddMLIR)
include(HandleLLVMOptions)

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
separate_arguments(act_llvm_definitions NATIVE_COMMAND ${LLVM_DEFINITIONS})
add_definitions(${act_llvm_definitions})

# The headers that nearly every file of act includes, compiled once.
if(ACT_ENABLE_PCH)
  set(act_pch_source "${CMAKE_BINARY_DIR}/ActPrecompiledHeaders.cpp")
  if(NOT EXISTS "${act_pch_source}")
    file(WRITE "${act_pch_source}" "")
  endif()
  add_library(ActPrecompiledHeaders OBJECT "${act_pch_source}")
  llvm_update_compile_flags(ActPrecompiledHeaders)
  target_precompile_headers(ActPrecompiledHeaders PRIVATE
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
endif()

# Makes `target` use the precompiled headers.
function(act_use_pch target)
  if(ACT_ENABLE_PCH)
    # add_mlir_library compiles the sources in an object library of its own.
    if(TARGET obj.${target})
      set(target obj.${target})
    endif()
    target_precompile_headers(${target} REUSE_FROM ActPrecompiledHeaders)
  endif()
endfunction()

# act_add_library(NAME SOURCES... [DEPENDS targets...] [LINK_LIBS act libraries...]
#                 [MLIR_LIBS MLIR libraries...])
function(act_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS;MLIR_LIBS" ${ARGN})
  add_mlir_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS}
    DEPENDS ${ARG_DEPENDS}
    LINK_LIBS PUBLIC ${ARG_LINK_LIBS}
    DISABLE_INSTALL)
  mlir_target_link_libraries(${name} PUBLIC MLIRIR ${ARG_MLIR_LIBS})
  act_use_pch(${name})
endfunction()

# act_add_tool(NAME SOURCES... [LINK_LIBS act libraries...] [MLIR_LIBS MLIR libraries...])
function(act_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS;MLIR_LIBS" ${ARGN})
  add_llvm_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  llvm_update_compile_flags(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS})
  mlir_target_link_libraries(${name} PRIVATE ${ARG_MLIR_LIBS})
endfunction()
