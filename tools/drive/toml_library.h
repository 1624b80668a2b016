/// toml++, as this room uses it.
///
/// Idea       The library asserts some of what the text must be before it looks, and only then has an error for it: "[`" ended a program that was
///            built with assertions. Its own errors say more.
/// Invariant  Whatever includes toml++ includes this, so that all copies of its functions are the same.
/// Cost       None.
#pragma once

#define TOML_EXCEPTIONS   0
#define TOML_ASSERT(expr) static_cast<void>(0)

#include <toml++/toml.h>
