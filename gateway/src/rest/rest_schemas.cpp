#include "rest/rest_openapi.hpp"

namespace telegate {
namespace {

constexpr std::string_view schemas = R"json({
"Problem": {
  "type": "object",
  "required": ["type", "title", "status", "detail", "instance"],
  "properties": {
    "type": {"const": "about:blank"},
    "title": {"type": "string"},
    "status": {"type": "integer", "minimum": 400, "maximum": 599},
    "detail": {"type": "string"},
    "instance": {"type": "string"},
    "errors": {"type": "array", "items": {"$ref": "#/components/schemas/Fault"}},
    "devices": {"type": "array", "items": {"$ref": "#/components/schemas/NamedState"}}
  }
},
"Fault": {
  "type": "object",
  "required": ["detail"],
  "properties": {
    "parameter": {"type": "string"}, "pointer": {"type": "string"}, "detail": {"type": "string"}
  }
},
"Count": {"type": "integer", "minimum": 0},
"Counts": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Count"}},
"Endpoints": {"type": "array", "items": {"type": "string"}},
"Mechanism": {"enum": ["NULL", "CURVE"]},
"Quality": {"enum": ["good", "uncertain", "bad", "stale"]},
"Tags": {"type": "object", "additionalProperties": {"type": "string"}},
"Sample": {
  "type": "object",
  "required": ["device", "channel", "epoch", "seq", "time", "value", "unit", "quality"],
  "properties": {
    "device": {"type": "string"},
    "channel": {"type": "string"},
    "epoch": {"$ref": "#/components/schemas/Count"},
    "seq": {"type": "integer", "minimum": 1},
    "time": {"type": "string"},
    "value": {"type": ["number", "string", "boolean", "null"]},
    "unit": {"type": "string"},
    "tags": {"$ref": "#/components/schemas/Tags"},
    "quality": {"$ref": "#/components/schemas/Quality"},
    "time_quality": {"enum": ["unsynchronized"]},
    "mono_ns": {"type": "integer"}
  }
},
"LedgerCounts": {
  "type": "object",
  "required": ["sampled", "published", "filtered", "queued", "dropped"],
  "properties": {
    "sampled": {"$ref": "#/components/schemas/Count"},
    "published": {"$ref": "#/components/schemas/Count"},
    "filtered": {"$ref": "#/components/schemas/Count"},
    "queued": {"$ref": "#/components/schemas/Count"},
    "dropped": {"$ref": "#/components/schemas/Counts"},
    "balanced": {"type": "boolean"}
  }
},
"Drops": {
  "type": "object",
  "required": ["count", "first_seq", "last_seq", "first_time", "last_time"],
  "properties": {
    "count": {"type": "integer", "minimum": 1},
    "first_seq": {"$ref": "#/components/schemas/Count"},
    "last_seq": {"$ref": "#/components/schemas/Count"},
    "first_time": {"type": "string"},
    "last_time": {"type": "string"}
  }
},
"DropsByReason": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Drops"}},
"ChannelLedgerCounts": {
  "allOf": [
    {"$ref": "#/components/schemas/LedgerCounts"},
    {"required": ["drops"], "properties": {"drops": {"$ref": "#/components/schemas/DropsByReason"}}}
  ]
},
"DeviceState": {"enum": ["idle", "measuring", "error", "safe"]},
"Device": {
  "type": "object",
  "required": ["name", "state", "interval_ms", "channels", "reads", "reads_failed", "ticks_missed", "reads_skipped",
    "consecutive_failures", "lost_at_source", "filtered_by", "thread", "breaker", "last_error", "last_error_current", "last_error_time",
    "last_good_time", "state_since", "outages", "samples_bad", "channels_bad", "refused", "last_refused", "last_refused_time",
    "lateness_s"],
  "properties": {
    "name": {"type": "string"},
    "state": {"$ref": "#/components/schemas/DeviceState"},
    "interval_ms": {"type": "number", "minimum": 0},
    "channels": {"$ref": "#/components/schemas/Count"},
    "reads": {"$ref": "#/components/schemas/Count"},
    "reads_failed": {"$ref": "#/components/schemas/Count"},
    "ticks_missed": {"$ref": "#/components/schemas/Count"},
    "reads_skipped": {"$ref": "#/components/schemas/Count"},
    "consecutive_failures": {"$ref": "#/components/schemas/Count"},
    "lost_at_source": {"$ref": "#/components/schemas/Count"},
    "filtered_by": {"$ref": "#/components/schemas/Counts"},
    "thread": {"type": "string"},
    "breaker": {"enum": ["closed", "open", "half_open", null]},
    "last_error": {"type": ["string", "null"]},
    "refused": {"$ref": "#/components/schemas/Count"},
    "last_refused": {"type": ["string", "null"]},
    "last_refused_time": {"type": ["string", "null"]},
    "last_error_current": {"type": "boolean"},
    "last_error_time": {"type": ["string", "null"]},
    "last_good_time": {"type": ["string", "null"]},
    "state_since": {"type": ["string", "null"]},
    "outages": {"$ref": "#/components/schemas/Count"},
    "samples_bad": {"$ref": "#/components/schemas/Count"},
    "channels_bad": {"$ref": "#/components/schemas/Count"},
    "lateness_s": {"$ref": "#/components/schemas/Lateness"},
    "ledger": {"$ref": "#/components/schemas/LedgerCounts"}
  }
},
"Event": {
  "type": "object",
  "required": ["number", "time", "device", "channel", "kind", "text", "suppressed"],
  "properties": {
    "number": {"type": "integer", "minimum": 1},
    "time": {"type": "string"},
    "device": {"type": "string"},
    "channel": {"type": "string"},
    "kind": {"type": "string"},
    "text": {"type": "string"},
    "suppressed": {"$ref": "#/components/schemas/Count"}
  }
},
"EventCounts": {
  "type": "object",
  "required": ["added", "suppressed", "overwritten", "lost"],
  "properties": {
    "added": {"$ref": "#/components/schemas/Count"}, "suppressed": {"$ref": "#/components/schemas/Count"},
    "overwritten": {"$ref": "#/components/schemas/Count"}, "lost": {"$ref": "#/components/schemas/Count"}
  }
},
"Events": {
  "type": "object",
  "required": ["last_number", "more", "counts", "events"],
  "properties": {
    "last_number": {"$ref": "#/components/schemas/Count"},
    "more": {"type": "boolean"},
    "counts": {"$ref": "#/components/schemas/EventCounts"},
    "events": {"type": "array", "items": {"$ref": "#/components/schemas/Event"}}
  }
},
"Alarm": {
  "type": "object",
  "required": ["device", "channel", "state", "active", "quality", "value", "limit", "since", "acknowledged"],
  "properties": {
    "device": {"type": "string"},
    "channel": {"type": "string"},
    "state": {"enum": ["unknown", "normal", "high", "low"]},
    "active": {"type": "boolean"},
    "quality": {"$ref": "#/components/schemas/Quality"},
    "value": {"type": "number"},
    "limit": {"type": ["number", "null"]},
    "since": {"type": ["string", "null"]},
    "acknowledged": {"oneOf": [{"$ref": "#/components/schemas/Acknowledgment"}, {"type": "null"}]}
  }
},
"Acknowledgment": {
  "type": "object",
  "required": ["time", "by", "comment"],
  "properties": {"time": {"type": "string"}, "by": {"type": "string"}, "comment": {"type": "string"}}
},
"Alarms": {
  "type": "object",
  "required": ["active", "inactive", "recent"],
  "properties": {
    "active": {"type": "array", "items": {"$ref": "#/components/schemas/Alarm"}},
    "inactive": {"type": "array", "items": {"$ref": "#/components/schemas/Alarm"}},
    "recent": {"type": "array", "items": {"$ref": "#/components/schemas/Event"}}
  }
},
"Devices": {
  "type": "object",
  "required": ["devices"],
  "properties": {"devices": {"type": "array", "items": {"$ref": "#/components/schemas/Device"}}}
},
"Lateness": {
  "type": "object",
  "required": ["p50", "p99", "max"],
  "properties": {"p50": {"type": "number"}, "p99": {"type": "number"}, "max": {"type": "number"}}
},
"NamedState": {
  "type": "object",
  "required": ["name", "state"],
  "properties": {"name": {"type": "string"}, "state": {"$ref": "#/components/schemas/DeviceState"}}
},
"DeviceStates": {
  "type": "object",
  "required": ["devices"],
  "properties": {"devices": {"type": "array", "items": {"$ref": "#/components/schemas/NamedState"}}}
},
"LostSample": {
  "type": "object",
  "required": ["topic", "seq", "time"],
  "properties": {
    "topic": {"type": ["string", "null"]},
    "seq": {"type": ["integer", "null"]},
    "time": {"type": ["string", "null"]}
  }
},
"Losses": {
  "type": "object",
  "required": ["count", "first", "last"],
  "properties": {
    "count": {"$ref": "#/components/schemas/Count"},
    "first": {"$ref": "#/components/schemas/LostSample"},
    "last": {"$ref": "#/components/schemas/LostSample"}
  }
},
"LossesByReason": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Losses"}},
"Subscriber": {
  "type": "object",
  "required": ["id", "endpoint", "format", "peer", "subscriptions", "subscriptions_count", "matched", "sent", "dropped",
    "pending", "balanced", "losses", "backlog_bytes", "blocking", "received", "zmtp", "mechanism", "curve_key", "client",
    "idle_ms", "round_trip_s"],
  "properties": {
    "id": {"type": ["string", "integer"]},
    "endpoint": {"type": "string"},
    "format": {"$ref": "#/components/schemas/Format"},
    "peer": {"type": "string"},
    "subscriptions": {"type": "array", "items": {"type": "string"}},
    "subscriptions_count": {"$ref": "#/components/schemas/Count"},
    "matched": {"$ref": "#/components/schemas/Count"},
    "sent": {"$ref": "#/components/schemas/Count"},
    "dropped": {"$ref": "#/components/schemas/Count"},
    "pending": {"$ref": "#/components/schemas/Count"},
    "balanced": {"type": "boolean"},
    "losses": {"$ref": "#/components/schemas/LossesByReason"},
    "backlog_bytes": {"$ref": "#/components/schemas/Count"},
    "blocking": {"type": "boolean"},
    "received": {"$ref": "#/components/schemas/Count"},
    "zmtp": {"type": "string"},
    "mechanism": {"$ref": "#/components/schemas/Mechanism"},
    "curve_key": {"type": ["string", "null"]},
    "client": {"type": ["string", "null"]},
    "idle_ms": {"type": "integer"},
    "round_trip_s": {"type": ["number", "null"]}
  }
},
"Subscribers": {
  "type": "object",
  "required": ["subscribers"],
  "properties": {"subscribers": {"type": "array", "items": {"$ref": "#/components/schemas/Subscriber"}}}
},
"ClosedSubscriber": {
  "type": "object",
  "required": ["closed"],
  "properties": {"closed": {"type": "string"}}
},
"Channel": {
  "type": "object",
  "required": ["topic", "device", "channel", "unit", "ledger"],
  "properties": {
    "topic": {"type": "string"}, "device": {"type": "string"}, "channel": {"type": "string"},
    "unit": {"type": "string"}, "ledger": {"$ref": "#/components/schemas/ChannelLedgerCounts"}
  }
},
"Channels": {
  "type": "object",
  "required": ["channels", "refused"],
  "properties": {
    "channels": {"type": "array", "items": {"$ref": "#/components/schemas/Channel"}},
    "refused": {"$ref": "#/components/schemas/Count"}
  }
},
"LatestSamples": {
  "type": "object",
  "required": ["epoch", "time", "samples"],
  "properties": {
    "epoch": {"$ref": "#/components/schemas/Count"},
    "time": {"type": "string"},
    "samples": {"type": "array", "items": {"$ref": "#/components/schemas/Sample"}}
  }
},
"MissingSamples": {
  "type": "object",
  "required": ["first_seq", "last_seq"],
  "properties": {
    "first_seq": {"$ref": "#/components/schemas/Count"}, "last_seq": {"$ref": "#/components/schemas/Count"}
  }
},
"SampleGap": {
  "type": "object",
  "required": ["epoch", "first_seq", "last_seq", "reason"],
  "properties": {
    "epoch": {"$ref": "#/components/schemas/Count"},
    "first_seq": {"$ref": "#/components/schemas/Count"}, "last_seq": {"$ref": "#/components/schemas/Count"},
    "reason": {"enum": ["queue_overflow", "shutdown", "log_slow", "log_full", "crash", "damaged", "retention", "unknown", "not_recorded"]}
  }
},
"SamplePosition": {
  "type": "object",
  "required": ["epoch", "since_seq"],
  "properties": {
    "epoch": {"$ref": "#/components/schemas/Count"}, "since_seq": {"$ref": "#/components/schemas/Count"}
  }
},
"ChannelSamples": {
  "type": "object",
  "required": ["topic", "unit", "epoch", "gap", "gaps", "more", "next", "samples"],
  "properties": {
    "topic": {"type": "string"},
    "unit": {"type": "string"},
    "epoch": {"$ref": "#/components/schemas/Count"},
    "gap": {"oneOf": [{"$ref": "#/components/schemas/MissingSamples"}, {"type": "null"}]},
    "gaps": {"type": "array", "items": {"$ref": "#/components/schemas/SampleGap"}},
    "more": {"type": "boolean"},
    "next": {"oneOf": [{"$ref": "#/components/schemas/SamplePosition"}, {"type": "null"}]},
    "samples": {"type": "array", "items": {"$ref": "#/components/schemas/Sample"}}
  }
},
"CountList": {"type": "array", "items": {"$ref": "#/components/schemas/Count"}},
"Times": {"type": "array", "items": {"type": "integer"}},
"Numbers": {"type": "array", "items": {"type": ["number", "null"]}},
"ChannelIntervals": {
  "type": "object",
  "required": ["topic", "unit", "since", "until", "interval_ms", "time_ms", "missing", "not_good"],
  "properties": {
    "topic": {"type": "string"},
    "unit": {"type": "string"},
    "since": {"type": "string"},
    "until": {"type": "string"},
    "interval_ms": {"type": "integer", "minimum": 1},
    "time_ms": {"$ref": "#/components/schemas/Times"},
    "min": {"$ref": "#/components/schemas/Numbers"},
    "max": {"$ref": "#/components/schemas/Numbers"},
    "mean": {"$ref": "#/components/schemas/Numbers"},
    "count": {"$ref": "#/components/schemas/CountList"},
    "first_time_ms": {"$ref": "#/components/schemas/Times"},
    "last_time_ms": {"$ref": "#/components/schemas/Times"},
    "missing": {"$ref": "#/components/schemas/CountList"},
    "not_good": {"$ref": "#/components/schemas/CountList"}
  }
},
"ChannelSamplesOrIntervals": {
  "oneOf": [{"$ref": "#/components/schemas/ChannelSamples"}, {"$ref": "#/components/schemas/ChannelIntervals"}]
},
"Level": {"enum": ["trace", "debug", "info", "warn", "error", "off"]},
"LogLevel": {
  "type": "object",
  "required": ["level", "reverts_to", "reverts_at"],
  "properties": {
    "level": {"$ref": "#/components/schemas/Level"},
    "reverts_to": {"oneOf": [{"$ref": "#/components/schemas/Level"}, {"type": "null"}]},
    "reverts_at": {"type": ["string", "null"]}
  }
},
"LogLevelChange": {
  "type": "object",
  "required": ["level"],
  "properties": {
    "level": {"$ref": "#/components/schemas/Level"},
    "revert_after": {"type": "string", "pattern": "^([1-9][0-9]{0,2}[sm]|([1-9]|1[0-9]|2[0-4])h)$"}
  },
  "additionalProperties": false
},
"SettingChange": {
  "type": "object",
  "required": ["key", "kind", "applies"],
  "properties": {
    "key": {"type": "string"}, "kind": {"enum": ["changed", "added", "removed"]},
    "from": {"type": "string"}, "to": {"type": "string"}, "applies": {"enum": ["live", "file", "restart"]}
  }
},
"ReloadReport": {
  "type": "object",
  "required": ["outcome", "generation", "changes", "needs_restart", "errors", "credentials", "reverts_at"],
  "properties": {
    "outcome": {"enum": ["applied", "unchanged", "planned"]},
    "generation": {"type": "integer", "minimum": 1},
    "changes": {"type": "array", "items": {"$ref": "#/components/schemas/SettingChange"}},
    "needs_restart": {"type": "array", "items": {"type": "string"}},
    "errors": {"type": "array", "items": {"$ref": "#/components/schemas/Fault"}},
    "credentials": {"enum": ["none", "same", "changed"]},
    "reverts_at": {"type": ["string", "null"]}
  }
},
"Generation": {
  "type": "object",
  "required": ["generation", "time", "by", "hash", "changes_count", "in_force"],
  "properties": {
    "generation": {"type": "integer", "minimum": 1}, "time": {"type": "string"}, "by": {"type": "string"},
    "hash": {"type": "string"}, "changes_count": {"$ref": "#/components/schemas/Count"}, "in_force": {"type": "boolean"}
  }
},
"Generations": {
  "type": "object",
  "required": ["generations"],
  "properties": {"generations": {"type": "array", "items": {"$ref": "#/components/schemas/Generation"}}}
},
"Confirmed": {
  "type": "object",
  "required": ["confirmed"],
  "properties": {"confirmed": {"type": "integer", "minimum": 1}}
},
"Origins": {"type": "object"},
"Identity": {
  "type": "object",
  "required": ["name", "role"],
  "properties": {"name": {"type": "string"}, "role": {"enum": ["reader", "admin"]}}
},
"SettingsPatch": {"type": "object"},
"OpenApi": {"type": "object"}
})json";

}  // namespace

std::string_view rest_schemas() noexcept {
    return schemas;
}

}  // namespace telegate
