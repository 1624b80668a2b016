#include "tools/explore/check_run.h"

#include "tools/explore/check_process.h"

namespace flashlab {

CheckVerdict run_check(const CheckCall& call) {
    const auto process = CheckProcess::start(call);
    return process ? process->end(process->wait()) : CheckVerdict{CheckEnd::not_started, 127};
}

} // namespace flashlab
