// LAST as a shared object: sh tools/build_scheme.sh tests/examples/last.cpp tests/examples/last_plugin.cpp && flashlab grade ./last.so
#include "ftl/scheme_plugin.h"

namespace flashlab {
const Scheme& last_scheme(); // tests/examples/last.cpp
}
FLASHLAB_SCHEME_PLUGIN(last);
