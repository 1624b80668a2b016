#include "tools/imports/fio_names.h"

#include <map>

namespace flashlab {

namespace {

/// Names that mean the same. bsrange is another form of bs, rwmixwrite of rwmixread: of the two the later counts.
const std::map<std::string, std::string, std::less<>> other_names{
    {"readwrite", "rw"},     {"blocksize", "bs"},    {"bsrange", "bs"},        {"blocksize_range", "bs"},         {"rwmixwrite", "rwmixread"},
    {"io_limit", "io_size"}, {"timeout", "runtime"}, {"fileoffset", "offset"}, {"wait_for_previous", "stonewall"}};
const std::map<std::string, std::string, std::less<>> fio_left_out{{"direct", "a load has no page cache above it"},
                                                                   {"buffered", "a load has no page cache above it"},
                                                                   {"filename", "a load goes to the drive"},
                                                                   {"directory", "a load goes to the drive"},
                                                                   {"group_reporting", "a report has the sum, and each queue"},
                                                                   {"norandommap", "only even random addresses have a map"},
                                                                   {"randrepeat", "the same seed gives the same addresses"},
                                                                   {"randseed", "bench --seed"},
                                                                   {"thread", "a load has no threads"},
                                                                   {"fsync", "loads do not flush"},
                                                                   {"fdatasync", "loads do not flush"},
                                                                   {"end_fsync", "loads do not flush"},
                                                                   {"thinktime", "a rate says when requests come"},
                                                                   {"offset", "a load covers the whole drive"},
                                                                   {"verify", "runs in virtual time carry no data"},
                                                                   {"ramp_time", "bench --warm-up steady"},
                                                                   {"log_avg_msec", "an event log has each request: --events"},
                                                                   {"write_bw_log", "an event log has each request: --events"},
                                                                   {"write_lat_log", "an event log has each request: --events"},
                                                                   {"write_iops_log", "an event log has each request: --events"}};

} // namespace

std::string_view fio_name(std::string_view setting) {
    const auto other = other_names.find(setting);
    return other == other_names.end() ? setting : other->second;
}

std::string why_fio_left_out(std::string_view name) {
    const auto known = fio_left_out.find(name);
    return known == fio_left_out.end() ? "not known" : known->second;
}

} // namespace flashlab
