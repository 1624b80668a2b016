#!/bin/sh
# Builds FlashLab (preset release) and runs its tests; ctest's summary closes the output.
#
#   sh tools/test.sh                   everything but the label long
#   sh tools/test.sh -L fuse           further arguments go to ctest: here only the tests on real mounts
#   sh tools/test.sh --all             long too (an hour)
#   FLASHLAB_PRESET=asan sh tools/test.sh    another preset: debug, asan, tsan
#   FLASHLAB_WERROR=ON sh tools/test.sh      warnings are errors, as in .ci/run; the other presets do so by themselves
#   CCACHE=OFF sh tools/test.sh              all is compiled anew, as in .ci/run
#
# Tests that need a mount skip themselves where /dev/fuse cannot be used.
set -eu
cd "$(dirname "$0")/.."
preset=${FLASHLAB_PRESET:-release}
exclude="long"
if [ "${1-}" = --all ]; then
    exclude="^$"
    shift
fi

sh tools/install_dependencies.sh
cmake --preset "$preset" ${FLASHLAB_WERROR:+-DFLASHLAB_WERROR="$FLASHLAB_WERROR"} ${CCACHE:+-DCCACHE="$CCACHE"}
cmake --build --preset "$preset"
exec ctest --preset "$preset" -j "$(nproc)" -LE "$exclude" "$@"
