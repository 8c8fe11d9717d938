# vacant_module(<name> DIR <dir> [PUBLIC libs...] [PRIVATE libs...])
#
# Makes the static library vacant_<name> (alias vacant::<name>) out of <dir>/src/**.cc with the public
# headers of <dir>/include. A module sees only the headers of the modules it links: that is how the layer
# law of docs/architecture.md is enforced by the compiler.
function(vacant_module name)
  cmake_parse_arguments(ARG "" "" "PUBLIC;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/*.cc)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/include/*.h)
  add_library(vacant_${name} STATIC ${sources})
  add_library(vacant::${name} ALIAS vacant_${name})
  set_target_properties(vacant_${name} PROPERTIES EXPORT_NAME ${name} VERIFY_INTERFACE_HEADER_SETS ON)
  target_sources(vacant_${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${CMAKE_CURRENT_SOURCE_DIR}/include FILES ${headers})
  target_include_directories(vacant_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
  target_compile_features(vacant_${name} PUBLIC cxx_std_23)
  target_link_libraries(vacant_${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE} vacant_options)
  install(TARGETS vacant_${name} EXPORT vacantTargets FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endfunction()

# Warnings, hardening and sanitizers: for our own code only, never exported to a consumer.
add_library(vacant_options INTERFACE)
target_compile_options(vacant_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Wold-style-cast
  -Wcast-qual -Wformat=2 -Wundef -Wnull-dereference
  -fstack-protector-strong -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(vacant_options INTERFACE -Wno-gnu-statement-expression-from-macro-expansion)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # -Wnull-dereference of g++ 12 reports false positives inside libstdc++ at -O2.
  target_compile_options(vacant_options INTERFACE -Wno-null-dereference -Wduplicated-cond -Wlogical-op)
endif()
target_compile_definitions(vacant_options INTERFACE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>
  $<$<NOT:$<CONFIG:Debug>>:_FORTIFY_SOURCE=2>)
if(VACANT_SANITIZE)
  add_compile_options(-fsanitize=${VACANT_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${VACANT_SANITIZE})
  target_compile_definitions(vacant_options INTERFACE VACANT_SANITIZED=1)
  target_compile_options(vacant_options INTERFACE -U_FORTIFY_SOURCE)
endif()
install(TARGETS vacant_options EXPORT vacantTargets)
