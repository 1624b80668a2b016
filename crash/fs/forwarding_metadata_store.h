/// A metadata store that passes every call on. A seeded bug derives from it and overrides one function.
///
/// Idea       Forwarding, nothing else. It owns what it wraps.
/// Invariant  Without an override it behaves as the store that it wraps.
/// Cost       A second virtual call a record.
/// Power cut  The store's.
#pragma once

#include <memory>

#include "fs/metadata_store.h"

namespace flashlab {

class ForwardingMetadataStore : public MetadataStore {
public:
    explicit ForwardingMetadataStore(std::shared_ptr<MetadataStore> real) : real_{std::move(real)} {}

    void begin() override { real_->begin(); }
    FsResult<void> put(const RecordKey& key, std::span<const std::byte> value) override { return real_->put(key, value); }
    FsResult<bool> erase(const RecordKey& key) override { return real_->erase(key); }
    void roll_back() override { real_->roll_back(); }
    FsResult<SimTime> commit(SimTime now, EventId parent) override { return real_->commit(now, parent); }
    CommitMark last_commit() const override { return real_->last_commit(); }
    SimTime durable_at(const CommitMark& mark) const override { return real_->durable_at(mark); }
    FsResult<SimTime> make_durable(const CommitMark& mark, SimTime now) override { return real_->make_durable(mark, now); }
    SimTime tick(SimTime now) override { return real_->tick(now); }
    void use_reserve() override { real_->use_reserve(); }
    bool get(const RecordKey& key, std::span<const std::byte>& value) const override { return real_->get(key, value); }
    void scan(const RecordKey& from, const RecordKey& to, const Visitor& visit) const override { real_->scan(from, to, visit); }
    bool find_at_or_before(const RecordKey& key, const RecordKey& floor, RecordKey& found, std::span<const std::byte>& value) const override {
        return real_->find_at_or_before(key, floor, found, value);
    }
    std::uint64_t data_pages() const override { return real_->data_pages(); }
    std::uint64_t data_pages_in_use() const override { return real_->data_pages_in_use(); }
    bool data_page_in_use(LogicalPage page) const override { return real_->data_page_in_use(page); }
    PageRun find_free_run(LogicalPage hint, std::uint64_t wanted) const override { return real_->find_free_run(hint, wanted); }
    void set_data_pages(PageRun run, bool in_use) override { real_->set_data_pages(run, in_use); }
    void promise(std::uint64_t bytes) override { real_->promise(bytes); }
    std::uint64_t bytes_total() const override { return real_->bytes_total(); }
    std::uint64_t bytes_free() const override { return real_->bytes_free(); }
    std::vector<CheckProblem> check() const override { return real_->check(); }

protected:
    std::shared_ptr<MetadataStore> real_;
};

} // namespace flashlab
