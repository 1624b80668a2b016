// Lazy as a shared object: sh tools/build_scheme.sh tests/examples/lazy.cpp tests/examples/lazy_plugin.cpp -o lazy.so && flashlab grade ./lazy.so
#include "ftl/scheme_plugin.h"

namespace flashlab {
const Scheme& lazy_scheme(); // tests/examples/lazy.cpp
}
FLASHLAB_SCHEME_PLUGIN(lazy);
