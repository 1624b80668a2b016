#include "ftl/blocks/cause_separation.h"

namespace flashlab {

std::uint32_t CauseSeparation::stream_of_write(Lpn) const { return 0; }

std::uint32_t CauseSeparation::stream_of_copy(Lpn) const { return 1; }

} // namespace flashlab
