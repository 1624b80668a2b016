/// A scheme in a shared object of its own, for programs that load it when they run (flashlab grade).
///
/// Idea       FLASHLAB_SCHEME_PLUGIN(last) at the end of a scheme's .cpp exports one symbol: what the object was compiled against, and the scheme's
///            entry. What the scheme calls of FlashLab is the loading program's: sh tools/build_scheme.sh links none of it in.
/// Invariant  The first two members stay where they are for ever: they are read before anything else is believed. An object is used only where its
///            `abi` is the loader's, byte for byte: the compiler, and a hash over all headers of base, nand, pram and ftl, which scheme_abi.cmake
///            writes at every build.
/// Cost       None.
/// Power cut  Keeps nothing.
#pragma once

#include <cstdint>

#include <flashlab_scheme_abi.h>

#include "ftl/scheme.h"

namespace flashlab {

#define FLASHLAB_TEXT_OF(number)     #number
#define FLASHLAB_NUMBER_TEXT(number) FLASHLAB_TEXT_OF(number)
#if defined(__clang__)
#define FLASHLAB_COMPILER "clang " FLASHLAB_NUMBER_TEXT(__clang_major__)
#else
#define FLASHLAB_COMPILER "g++ " FLASHLAB_NUMBER_TEXT(__GNUC__)
#endif

inline constexpr std::uint64_t scheme_plugin_magic = 0x656d65686373'4c46; // "FLscheme" as bytes
inline constexpr const char* scheme_abi = FLASHLAB_SCHEME_HEADERS ", " FLASHLAB_COMPILER;
inline constexpr const char* scheme_plugin_symbol = "flashlab_scheme_plugin";

struct SchemePlugin {
    std::uint64_t magic;
    const char* abi;
    const Scheme& (*scheme)();
};

} // namespace flashlab

/// NAME_scheme() is the scheme's entry. Once in an object, outside of any namespace.
#define FLASHLAB_SCHEME_PLUGIN(name)                                                                                                                 \
    extern "C" [[gnu::visibility("default")]] const flashlab::SchemePlugin flashlab_scheme_plugin;                                                   \
    const flashlab::SchemePlugin flashlab_scheme_plugin { flashlab::scheme_plugin_magic, flashlab::scheme_abi, &flashlab::name##_scheme }
