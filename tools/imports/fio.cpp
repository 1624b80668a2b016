#include "tools/imports/imported.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "tools/text/sizes.h"

namespace flashlab {

namespace {

using Kind = ImportNote::Kind;

struct FioSetting {
    std::string name, value;
    std::uint64_t line = 0, column = 0;
};
struct FioJob {
    std::string name;
    std::vector<FioSetting> settings; ///< the global ones first: of each name the last one counts
};

std::expected<std::vector<FioJob>, std::string> parse_jobs(std::string_view text, const std::string& path) {
    std::vector<FioJob> jobs;
    std::vector<FioSetting> global;
    bool in_global = false;
    std::uint64_t number = 0;
    while (!text.empty()) {
        const std::string_view whole = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), whole.size() + 1));
        ++number;
        const std::string_view line = without_blanks(whole);
        const auto column = static_cast<std::uint64_t>(line.data() - whole.data()) + 1;
        if (line.empty() || line.front() == '#' || line.front() == ';') continue;
        if (line.front() == '[') {
            if (line.back() != ']' || line.size() < 3) return std::unexpected(fmt::format("{}:{}:{}: a job's name is [NAME]", path, number, column));
            const std::string_view name = line.substr(1, line.size() - 2);
            in_global = name == "global";
            if (!in_global) jobs.push_back({std::string{name}, global});
            continue;
        }
        const auto equals = line.find('=');
        FioSetting setting{std::string{without_blanks(line.substr(0, equals))},
                           equals == line.npos ? "1" : std::string{without_blanks(line.substr(equals + 1))}, number, column};
        if (!in_global && jobs.empty())
            return std::unexpected(fmt::format("{}:{}:{}: {} stands before any [job]", path, number, column, setting.name));
        if (setting.value.find('$') != std::string::npos)
            return std::unexpected(fmt::format("{}:{}:{}: {}: a variable; write its value", path, number, column, setting.name));
        (in_global ? global : jobs.back().settings).push_back(std::move(setting));
    }
    if (jobs.empty()) return std::unexpected(fmt::format("{}:{}:1: no [job] in it", path, std::max<std::uint64_t>(number, 1)));
    return jobs;
}

/// Names that mean the same.
const std::map<std::string, std::string, std::less<>> other_names{{"readwrite", "rw"}, {"blocksize", "bs"}};
const std::map<std::string, std::string, std::less<>> fio_left_out{{"direct", "a load has no page cache above it"},
                                                                   {"buffered", "a load has no page cache above it"},
                                                                   {"filename", "a load goes to the drive"},
                                                                   {"directory", "a load goes to the drive"},
                                                                   {"group_reporting", "a report has the sum, and each queue"},
                                                                   {"norandommap", "random addresses may repeat"},
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

class FioReader {
public:
    FioReader(std::string path, Imported& out) : path_{std::move(path)}, out_{out} {}

    [[nodiscard]] std::expected<void, std::string> take(const FioJob& job) {
        std::map<std::string, FioSetting, std::less<>> of;
        for (const FioSetting& setting : job.settings) {
            const auto other = other_names.find(setting.name);
            of[other == other_names.end() ? setting.name : other->second] = setting;
        }
        if (take_out(of, "stonewall") || take_out(of, "wait_for_previous")) end_group();
        const std::string rw = value(of, "rw", "read");
        std::string pattern = rw.substr(0, rw.find(':'));
        if (pattern == "readwrite") pattern = "rw";
        if (rw.find(':') != std::string::npos) out_.note(Kind::left_out, "rw", rw, "what stands behind the colon: offsets as the pattern has them");
        if (std::ranges::find(patterns_, pattern) == patterns_.end()) {
            out_.note(Kind::left_out, "job " + job.name, rw, "a load of trims or of zones is not known: the job is left out");
            return {};
        }
        if (const auto done = queues_of(job, of, pattern); !done) return done;
        for (const auto& [name, setting] : of) {
            const auto known = fio_left_out.find(name);
            out_.note(Kind::left_out, name, setting.value, known == fio_left_out.end() ? "not known" : known->second);
        }
        return {};
    }
    /// What was taken since the last one runs together.
    void end_group() {
        if (queues_.empty()) return;
        ImportedLoad load{.title = fmt::format("{} of {}", title_, path_), .command = {"bench"}};
        for (const std::string& queue : queues_) load.command.insert(load.command.end(), {"--queue", queue});
        if (!distribution_.empty() && is_even_somewhere_)
            out_.note(Kind::nearly, "random_distribution", distribution_,
                      "one for all that runs together: jobs of random places without one have it, too");
        if (!distribution_.empty()) load.command.insert(load.command.end(), {"--random-distribution", distribution_});
        out_.loads.push_back(std::move(load));
        queues_.clear();
        distribution_.clear();
        is_even_somewhere_ = false;
        title_.clear();
    }

private:
    using Settings = std::map<std::string, FioSetting, std::less<>>;
    struct Part {
        std::uint64_t bytes;
        double share;           ///< of the requests
        double bytes_share = 1; ///< of the bytes
    };

    /// A whole one stays exact: what a double rounds up to 2^64 is no number of 64 bits.
    static std::uint64_t part_of(std::uint64_t whole, double share, double rounding = 0) {
        return share < 1 ? static_cast<std::uint64_t>(static_cast<double>(whole) * share + rounding) : whole;
    }
    static std::optional<FioSetting> take_out(Settings& of, std::string_view name) {
        const auto found = of.find(name);
        if (found == of.end()) return std::nullopt;
        FioSetting setting = std::move(found->second);
        of.erase(found);
        return setting;
    }
    static std::string value(Settings& of, std::string_view name, std::string otherwise) {
        const auto setting = take_out(of, name);
        return setting ? setting->value : std::move(otherwise);
    }
    [[nodiscard]] std::unexpected<std::string> refuse(const FioSetting& at, const std::string& why) const {
        return std::unexpected(fmt::format("{}:{}:{}: {}={}: {}", path_, at.line, at.column, at.name, at.value, why));
    }
    /// The first of a list for reads, writes and trims; a difference between them is noted.
    [[nodiscard]] std::expected<std::uint64_t, std::string> first_size(const FioSetting& setting) {
        const std::string first = setting.value.substr(0, setting.value.find_first_of(",-"));
        const auto bytes = parse_size(first);
        if (!bytes) return refuse(setting, bytes.error());
        if (first != setting.value) out_.note(Kind::nearly, setting.name, setting.value, "one value for reads and writes: " + first);
        return *bytes;
    }
    [[nodiscard]] std::expected<std::optional<std::uint64_t>, std::string> size(Settings& of, std::string_view name) {
        const auto setting = take_out(of, name);
        if (!setting) return std::nullopt;
        const auto bytes = first_size(*setting);
        if (!bytes) return std::unexpected(bytes.error());
        return *bytes;
    }
    /// size or io_size; "25%" is a share of `whole`, and is left out where nobody knows that.
    [[nodiscard]] std::expected<std::optional<std::uint64_t>, std::string> bytes_of(Settings& of, std::string_view name,
                                                                                    std::optional<std::uint64_t> whole) {
        const auto found = of.find(name);
        if (found == of.end() || !found->second.value.ends_with('%')) return size(of, name);
        const FioSetting setting = *take_out(of, name);
        const char* end = setting.value.data() + setting.value.size() - 1;
        std::uint64_t percent = 0;
        const auto read = std::from_chars(setting.value.data(), end, percent);
        if (read.ec != std::errc{} || read.ptr != end || percent == 0 || percent > 100) return refuse(setting, "wanted: 1% to 100%");
        if (whole) return std::max<std::uint64_t>(1, part_of(*whole, static_cast<double>(percent) / 100));
        out_.note(Kind::left_out, setting.name, setting.value, "a share of a file, whose size a load does not know");
        return std::nullopt;
    }
    /// bs, or bssplit: 4k/60:64k/40.
    [[nodiscard]] std::expected<std::vector<Part>, std::string> parts_of(Settings& of) {
        const auto bs = size(of, "bs");
        if (!bs) return std::unexpected(bs.error());
        const auto split = take_out(of, "bssplit");
        if (!split) return std::vector{Part{bs->value_or(4096), 1}};
        std::vector<Part> parts;
        double sum = 0;
        std::string_view rest = std::string_view{split->value}.substr(0, split->value.find(','));
        while (!rest.empty()) {
            const std::string_view part = rest.substr(0, rest.find(':'));
            rest.remove_prefix(std::min(rest.size(), part.size() + 1));
            const auto slash = part.find('/');
            const auto bytes = parse_size(part.substr(0, slash));
            std::uint64_t percent = 0;
            const std::string_view digits = slash == part.npos ? std::string_view{} : part.substr(slash + 1);
            const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), percent);
            if (!bytes || read.ec != std::errc{} || read.ptr != digits.data() + digits.size() || percent == 0 || percent > 100)
                return refuse(*split, "wanted: SIZE/PERCENT:SIZE/PERCENT");
            parts.push_back({*bytes, static_cast<double>(percent)});
            sum += static_cast<double>(percent);
        }
        if (parts.empty()) return refuse(*split, "wanted: SIZE/PERCENT:SIZE/PERCENT");
        double all_bytes = 0;
        for (const Part& part : parts) all_bytes += static_cast<double>(part.bytes) * part.share;
        for (Part& part : parts) {
            part.bytes_share = all_bytes > 0 ? static_cast<double>(part.bytes) * part.share / all_bytes : 1;
            part.share /= sum;
        }
        if (split->value.find(',') != std::string::npos)
            out_.note(Kind::nearly, split->name, split->value, "one split for reads and writes, the first");
        if (parts.size() > 1)
            out_.note(Kind::nearly, split->name, split->value, "a queue for each size, with its share of the requests, and of the depth");
        return parts;
    }
    [[nodiscard]] std::expected<void, std::string> take_distribution(Settings& of) {
        const auto setting = take_out(of, "random_distribution");
        is_even_somewhere_ = is_even_somewhere_ || !setting || setting->value == "random";
        if (!setting || setting->value == "random") return {};
        std::string taken = setting->value;
        if (taken.starts_with("zoned")) { // zoned:PERCENT_OF_ACCESSES/PERCENT_OF_SPACE:...
            std::uint64_t accesses = 0, space = 0;
            const std::string first = taken.substr(std::min(taken.size(), taken.find(':') + 1));
            const char* end = first.data() + first.size();
            const auto a = std::from_chars(first.data(), end, accesses);
            const auto b =
                a.ptr != end && *a.ptr == '/' ? std::from_chars(a.ptr + 1, end, space) : std::from_chars_result{end, std::errc::invalid_argument};
            if (a.ec != std::errc{} || b.ec != std::errc{} || accesses > 100 || space > 100 || space == 0)
                return refuse(*setting, "wanted: zoned:ACCESSES/SPACE:ACCESSES/SPACE");
            taken = fmt::format("hotspot:{},{}", static_cast<double>(space) / 100, static_cast<double>(accesses) / 100);
            if (std::ranges::count(setting->value, ':') > 2) out_.note(Kind::nearly, setting->name, setting->value, "two zones: " + taken);
        } else if ((taken.starts_with("zipf:") || taken.starts_with("pareto:")) && std::ranges::count(taken, ':') > 1) { // zipf:THETA:CENTER
            taken.resize(taken.rfind(':'));
            out_.note(Kind::nearly, setting->name, setting->value, "the popular ones lie anywhere: " + taken);
        } else if (!taken.starts_with("zipf:") && !taken.starts_with("pareto:")) {
            out_.note(Kind::left_out, setting->name, setting->value, "known are zipf:THETA, pareto:H and zoned");
            return {};
        }
        if (!distribution_.empty() && distribution_ != taken)
            out_.note(Kind::nearly, setting->name, setting->value, "one distribution for all that runs together: " + distribution_);
        else
            distribution_ = taken;
        return {};
    }
    /// "30", "30s", "1m", "500ms": seconds, as bench reads them. 0 is none.
    [[nodiscard]] std::expected<std::string, std::string> runtime_of(Settings& of) {
        const auto setting = take_out(of, "runtime");
        if (!setting || setting->value == "0") return std::string{};
        const auto ns = parse_seconds(setting->value);
        if (!ns) return refuse(*setting, ns.error());
        return ",runtime=" + setting->value;
    }
    /// rate or rate_iops, of the whole job: "40k" of all, "40k,10k" of reads and writes, ",10k" of writes; 0 is no limit. `share`: the part's of what
    /// it limits.
    [[nodiscard]] std::expected<std::string, std::string> rate_of(const std::optional<FioSetting>& setting, const std::string& pattern, double share,
                                                                  const char* key) const {
        if (!setting) return std::string{};
        std::vector<std::uint64_t> limits; // reads, writes, trims
        for (std::string_view rest = setting->value; limits.size() < 3;) {
            const auto comma = rest.find(',');
            const std::string_view one = rest.substr(0, comma);
            const auto number = one.empty() ? std::expected<std::uint64_t, std::string>{0} : parse_size(one);
            if (!number) return refuse(*setting, number.error());
            limits.push_back(*number == 0 ? 0 : std::max<std::uint64_t>(1, part_of(*number, share)));
            if (comma == rest.npos) break;
            rest.remove_prefix(comma + 1);
        }
        const std::uint64_t reads = limits.front(), writes = limits.size() > 1 ? limits[1] : limits.front();
        const bool is_mixed = pattern.ends_with("rw");
        if (is_mixed && (reads == 0) != (writes == 0)) return refuse(*setting, "a limit for reads or writes alone is not known: give both, or none");
        if (is_mixed && limits.size() > 1 && reads > 0) return fmt::format(",{}={}:{}", key, reads, writes);
        const std::uint64_t limit = pattern.ends_with("write") ? writes : reads;
        return limit == 0 ? std::string{} : fmt::format(",{}={}", key, limit);
    }
    [[nodiscard]] std::expected<void, std::string> queues_of(const FioJob& job, Settings& of, const std::string& pattern) {
        const auto parts = parts_of(of);
        if (!parts) return std::unexpected(parts.error());
        const auto file_size = bytes_of(of, "size", std::nullopt);
        const auto io_size = bytes_of(of, "io_size", file_size ? *file_size : std::nullopt), depth = size(of, "iodepth"), jobs = size(of, "numjobs"),
                   mix = size(of, "rwmixread"), mix_write = size(of, "rwmixwrite");
        for (const auto* one : {&io_size, &file_size, &depth, &jobs, &mix, &mix_write})
            if (!*one) return std::unexpected(one->error());
        if (const auto taken = take_distribution(of); !taken) return taken;
        std::uint64_t iodepth = depth->value_or(1);
        const auto engine_setting = take_out(of, "ioengine");
        const std::string engine = engine_setting ? engine_setting->value : "psync";
        if (engine_setting) out_.note(Kind::left_out, "ioengine", engine, "iodepth says how many requests are in flight");
        if ((engine.ends_with("sync") || engine == "mmap") && iodepth > 1) {
            out_.note(Kind::nearly, "iodepth", fmt::format("{}", iodepth),
                      fmt::format("ioengine={} has one request in flight, and so has the load", engine));
            iodepth = 1;
        }
        const auto rate_setting = take_out(of, "rate"), iops_setting = take_out(of, "rate_iops");
        if (rate_setting && iops_setting) out_.note(Kind::left_out, "rate_iops", iops_setting->value, "rate is the limit, as it is in fio");
        const bool is_poisson = value(of, "rate_process", "linear") == "poisson";
        const auto runtime = runtime_of(of);
        if (!runtime) return std::unexpected(runtime.error());
        const bool is_endless = take_out(of, "time_based") && !runtime->empty(); // the time alone ends it
        const auto bytes = *io_size ? *io_size : *file_size;
        if (*file_size)
            out_.note(Kind::nearly, "size", fmt::format("{}", **file_size),
                      fmt::format("{}; in fio the addresses stay within it, too, while a load covers the whole drive: give that this --size",
                                  is_endless ? "time_based: the time ends the load"
                                  : *io_size ? "io_size ends the load"
                                             : "as io-size"));
        if (*io_size && is_endless) out_.note(Kind::left_out, "io_size", fmt::format("{}", **io_size), "time_based: the time ends the load");
        for (const Part& part : *parts) {
            std::string queue =
                fmt::format("rw={},bs={},iodepth={}", pattern, part.bytes, std::max<std::uint64_t>(1, part_of(iodepth, part.share, 0.5)));
            if (runtime->empty() || (bytes && !is_endless))
                queue += fmt::format(",io-size={}", std::max(part.bytes, part_of(bytes.value_or(std::uint64_t{1} << 30), part.bytes_share)));
            queue += *runtime;
            if (jobs->value_or(1) > 1) queue += fmt::format(",numjobs={}", **jobs);
            if (pattern.ends_with("rw") && (*mix || *mix_write))
                queue += fmt::format(",rwmixread={}", *mix ? **mix : 100 - std::min<std::uint64_t>(100, **mix_write));
            const auto rate = rate_of(rate_setting, pattern, part.bytes_share, "rate"),
                       iops = rate_of(iops_setting, pattern, part.share, "rate-iops");
            if (!rate || !iops) return std::unexpected(rate ? iops.error() : rate.error());
            queue += rate->empty() ? *iops : *rate;
            if (is_poisson && !(rate->empty() && iops->empty())) queue += ",rate-process=poisson";
            out_.note(Kind::taken, "job " + job.name, "", queue);
            queues_.push_back(std::move(queue));
        }
        title_ += (title_.empty() ? "job " : ", ") + job.name;
        return {};
    }

    static constexpr std::array<std::string_view, 6> patterns_{"read", "write", "randread", "randwrite", "rw", "randrw"};
    std::string path_;
    Imported& out_;
    std::vector<std::string> queues_;
    std::string distribution_, title_;
    bool is_even_somewhere_ = false; ///< a job has no distribution
};

} // namespace

std::expected<Imported, std::string> import_fio(const std::string& path) {
    const auto text = text_to_import(path);
    if (!text) return std::unexpected(text.error());
    const auto jobs = parse_jobs(*text, path);
    if (!jobs) return std::unexpected(jobs.error());
    Imported out;
    FioReader reader{path, out};
    for (const FioJob& job : *jobs)
        if (const auto taken = reader.take(job); !taken) return std::unexpected(taken.error());
    reader.end_group();
    return out;
}

} // namespace flashlab
