#include "rest/rest_openapi.hpp"

namespace telegate {
namespace {

constexpr std::string_view status_schemas = R"json({
"Build": {
  "type": "object",
  "required": ["type", "compiler"],
  "properties": {"type": {"type": "string"}, "compiler": {"type": "string"}}
},
"ClockStep": {
  "type": "object",
  "required": ["time", "seconds"],
  "properties": {"time": {"type": "string"}, "seconds": {"type": "number"}}
},
"Clock": {
  "type": "object",
  "required": ["synchronized", "estimated_error_s", "maximum_error_s", "steps", "last_step", "offset_ns"],
  "properties": {
    "synchronized": {"type": ["boolean", "null"]},
    "estimated_error_s": {"type": ["number", "null"]},
    "maximum_error_s": {"type": ["number", "null"]},
    "frequency_ppm": {"type": ["number", "null"]},
    "problem": {"type": ["string", "null"]},
    "steps": {"$ref": "#/components/schemas/Count"},
    "last_step": {"oneOf": [{"$ref": "#/components/schemas/ClockStep"}, {"type": "null"}]},
    "offset_ns": {"type": "integer"}
  }
},
"LastReload": {
  "type": "object",
  "required": ["time", "by", "outcome", "changes_count", "problem"],
  "properties": {
    "time": {"type": "string"}, "by": {"type": "string"},
    "outcome": {"enum": ["applied", "unchanged", "planned", "invalid", "needs_restart", "failed", "conflict"]},
    "changes_count": {"$ref": "#/components/schemas/Count"}, "problem": {"type": ["string", "null"]}
  }
},
"PendingRevert": {
  "type": "object",
  "required": ["generation", "time"],
  "properties": {"generation": {"type": "integer", "minimum": 1}, "time": {"type": "string"}}
},
"SettingsInForce": {
  "type": "object",
  "required": ["path", "hash", "generation", "loaded_at", "differs_from_file", "reverts", "last_reload"],
  "properties": {
    "path": {"type": "string"}, "hash": {"type": "string"}, "generation": {"type": "integer", "minimum": 1},
    "loaded_at": {"type": "string"}, "differs_from_file": {"type": ["boolean", "null"]},
    "reverts": {"oneOf": [{"$ref": "#/components/schemas/PendingRevert"}, {"type": "null"}]},
    "last_reload": {"oneOf": [{"$ref": "#/components/schemas/LastReload"}, {"type": "null"}]}
  }
},
"PreviousRun": {
  "type": "object",
  "required": ["epoch", "stopped_cleanly", "last_known", "ledger", "log"],
  "properties": {
    "epoch": {"$ref": "#/components/schemas/Count"}, "stopped_cleanly": {"type": "boolean"},
    "last_known": {"type": ["string", "null"]},
    "ledger": {"oneOf": [{"$ref": "#/components/schemas/LedgerCounts"}, {"type": "null"}]},
    "log": {"oneOf": [{"$ref": "#/components/schemas/LoggedRun"}, {"type": "null"}]}
  }
},
"LoggedRun": {
  "type": "object",
  "required": ["last_sample", "captured", "lost"],
  "properties": {
    "last_sample": {"type": ["string", "null"]},
    "captured": {"$ref": "#/components/schemas/Count"}, "lost": {"$ref": "#/components/schemas/Count"}
  }
},
"Queue": {
  "type": "object",
  "required": ["depth", "capacity", "high_water", "policy"],
  "properties": {
    "depth": {"$ref": "#/components/schemas/Count"}, "capacity": {"$ref": "#/components/schemas/Count"},
    "high_water": {"$ref": "#/components/schemas/Count"},
    "policy": {"enum": ["drop_oldest", "drop_newest", "block"]}
  }
},
"LedgerByDevice": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/LedgerCounts"}},
"FullLedger": {
  "type": "object",
  "required": ["balanced", "total", "devices"],
  "properties": {
    "balanced": {"type": "boolean"}, "total": {"$ref": "#/components/schemas/LedgerCounts"},
    "devices": {"$ref": "#/components/schemas/LedgerByDevice"}
  }
},
"Sampler": {
  "type": "object",
  "required": ["realtime_priority", "cpu_affinity", "devices"],
  "properties": {
    "realtime_priority": {"$ref": "#/components/schemas/Count"},
    "cpu_affinity": {"type": "array", "items": {"$ref": "#/components/schemas/Count"}},
    "devices": {"type": "array", "items": {"$ref": "#/components/schemas/Device"}}
  }
},
"Recorder": {
  "type": "object",
  "required": ["path", "device", "samples", "lost", "pending", "bytes", "error"],
  "properties": {
    "path": {"type": "string"}, "device": {"type": ["string", "null"]},
    "samples": {"$ref": "#/components/schemas/Count"}, "lost": {"$ref": "#/components/schemas/Count"},
    "pending": {"$ref": "#/components/schemas/Count"}, "bytes": {"$ref": "#/components/schemas/Count"},
    "error": {"type": ["string", "null"]}
  }
},
"DurableLogDropped": {
  "type": "object",
  "required": ["log_slow", "log_full"],
  "properties": {
    "log_slow": {"$ref": "#/components/schemas/Count"}, "log_full": {"$ref": "#/components/schemas/Count"}
  }
},
"DurableLogReads": {
  "type": "object",
  "required": ["pages", "samples", "refused", "late", "failed"],
  "properties": {
    "pages": {"$ref": "#/components/schemas/Count"}, "samples": {"$ref": "#/components/schemas/Count"},
    "refused": {"$ref": "#/components/schemas/Count"}, "late": {"$ref": "#/components/schemas/Count"},
    "failed": {"$ref": "#/components/schemas/Count"}
  }
},
"DurableLog": {
  "type": "object",
  "required": ["path", "segments", "bytes", "oldest_position", "oldest_time", "next_position", "synced_position",
    "samples", "pending", "dropped", "written_bytes", "day", "day_bytes", "segments_removed", "full", "reads", "error"],
  "properties": {
    "path": {"type": "string"}, "segments": {"$ref": "#/components/schemas/Count"},
    "bytes": {"$ref": "#/components/schemas/Count"}, "oldest_position": {"$ref": "#/components/schemas/Count"},
    "oldest_time": {"type": ["string", "null"]},
    "reads": {"$ref": "#/components/schemas/DurableLogReads"},
    "next_position": {"$ref": "#/components/schemas/Count"}, "synced_position": {"$ref": "#/components/schemas/Count"},
    "samples": {"$ref": "#/components/schemas/Count"}, "pending": {"$ref": "#/components/schemas/Count"},
    "dropped": {"$ref": "#/components/schemas/DurableLogDropped"},
    "written_bytes": {"$ref": "#/components/schemas/Count"},
    "day": {"type": ["string", "null"]}, "day_bytes": {"$ref": "#/components/schemas/Count"},
    "segments_removed": {"$ref": "#/components/schemas/Count"}, "full": {"type": "boolean"},
    "error": {"type": ["string", "null"]}
  }
},
"LogSegment": {
  "type": "object",
  "required": ["first_position", "epoch", "time"],
  "properties": {
    "first_position": {"$ref": "#/components/schemas/Count"}, "epoch": {"type": "integer"},
    "time": {"type": "string"}
  }
},
"LogReport": {
  "type": "object",
  "required": ["log", "rate_bytes_per_s", "bytes_per_day", "seconds_left", "segments"],
  "properties": {
    "log": {"oneOf": [{"$ref": "#/components/schemas/DurableLog"}, {"type": "null"}]},
    "rate_bytes_per_s": {"type": "number"},
    "bytes_per_day": {"type": "number"}, "seconds_left": {"type": ["number", "null"]},
    "segments": {"type": "array", "items": {"$ref": "#/components/schemas/LogSegment"}}
  }
},
"UplinkMessages": {
  "type": "object",
  "required": ["sent", "resent", "acknowledged", "duplicates", "refused"],
  "properties": {
    "sent": {"$ref": "#/components/schemas/Count"}, "resent": {"$ref": "#/components/schemas/Count"},
    "acknowledged": {"$ref": "#/components/schemas/Count"},
    "duplicates": {"$ref": "#/components/schemas/Count"}, "refused": {"$ref": "#/components/schemas/Count"}
  }
},
"UplinkSamples": {
  "type": "object",
  "required": ["read", "acknowledged", "in_flight", "quarantined", "gaps", "returned", "balanced"],
  "properties": {
    "read": {"$ref": "#/components/schemas/Count"}, "acknowledged": {"$ref": "#/components/schemas/Count"},
    "in_flight": {"$ref": "#/components/schemas/Count"}, "quarantined": {"$ref": "#/components/schemas/Count"},
    "gaps": {"$ref": "#/components/schemas/Count"}, "returned": {"$ref": "#/components/schemas/Count"},
    "balanced": {"type": "boolean"}
  }
},
"Uplink": {
  "type": "object",
  "required": ["name", "urls", "subject", "connected", "state", "paused", "server", "error", "last_error",
    "last_error_time", "cursor_error", "position", "delivered_time", "lag_s", "lag_samples",
    "backlog_samples", "catch_up_s",
    "round_trip_s", "connections", "losses", "messages", "samples", "quarantine"],
  "properties": {
    "name": {"type": "string"}, "urls": {"type": "array", "items": {"type": "string"}},
    "subject": {"type": "string"}, "connected": {"type": "boolean"},
    "state": {"enum": ["down", "sending", "settling", "backing_off"]}, "paused": {"type": "boolean"},
    "last_error": {"type": ["string", "null"]}, "last_error_time": {"type": ["string", "null"]},
    "lag_samples": {"$ref": "#/components/schemas/Count"}, "backlog_samples": {"$ref": "#/components/schemas/Count"},
    "catch_up_s": {"type": ["integer", "null"]},
    "round_trip_s": {"type": "number"}, "quarantine": {"$ref": "#/components/schemas/UplinkQuarantineSize"},
    "server": {"type": ["string", "null"]}, "error": {"type": ["string", "null"]},
    "cursor_error": {"type": ["string", "null"]}, "position": {"$ref": "#/components/schemas/Count"},
    "delivered_time": {"type": ["string", "null"]}, "lag_s": {"type": "number"},
    "losses": {"$ref": "#/components/schemas/Count"}, "connections": {"$ref": "#/components/schemas/Count"},
    "messages": {"$ref": "#/components/schemas/UplinkMessages"},
    "samples": {"$ref": "#/components/schemas/UplinkSamples"}
  }
},
"UplinkQuarantineSize": {
  "type": "object",
  "required": ["samples", "bytes"],
  "properties": {
    "samples": {"$ref": "#/components/schemas/Count"}, "bytes": {"$ref": "#/components/schemas/Count"}
  }
},
"UplinkRewind": {
  "type": "object",
  "oneOf": [{"required": ["position"]}, {"required": ["time"]}],
  "additionalProperties": false,
  "properties": {
    "position": {"$ref": "#/components/schemas/Count"}, "time": {"type": "string", "format": "date-time"}
  }
},
"UplinkQuarantine": {
  "type": "object",
  "required": ["samples"],
  "properties": {
    "samples": {"type": "array", "items": {"$ref": "#/components/schemas/QuarantinedSample"}}
  }
},
"QuarantinedSample": {
  "type": "object",
  "required": ["topic", "epoch", "seq", "time", "refused_time", "reason", "position", "bytes"],
  "properties": {
    "topic": {"type": "string"}, "epoch": {"type": "integer"}, "seq": {"$ref": "#/components/schemas/Count"},
    "time": {"type": "string"}, "refused_time": {"type": "string"}, "reason": {"type": "string"},
    "position": {"$ref": "#/components/schemas/Count"}, "bytes": {"$ref": "#/components/schemas/Count"}
  }
},
"UplinkList": {
  "type": "object",
  "required": ["uplinks"],
  "properties": {"uplinks": {"type": "array", "items": {"$ref": "#/components/schemas/Uplink"}}}
},
"Consumer": {
  "type": "object",
  "required": ["name", "taken", "missing"],
  "properties": {
    "name": {"type": "string"},
    "taken": {"$ref": "#/components/schemas/Count"}, "missing": {"$ref": "#/components/schemas/Count"}
  }
},
"Notices": {
  "type": "object",
  "required": ["gaps", "beats"],
  "properties": {
    "gaps": {"$ref": "#/components/schemas/Count"}, "beats": {"$ref": "#/components/schemas/Count"}
  }
},
"NoticesByFormat": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Notices"}},
"Security": {
  "type": "object",
  "required": ["mechanism"],
  "properties": {
    "mechanism": {"$ref": "#/components/schemas/Mechanism"}, "public_key": {"type": "string"},
    "clients": {"type": ["integer", "null"], "minimum": 0}
  }
},
"Delivery": {
  "type": "object",
  "required": ["policy", "backlog_bytes", "backlog_age_ms", "last_value"],
  "properties": {
    "policy": {"enum": ["drop_oldest", "drop_newest", "disconnect", "block", "conflate"]},
    "backlog_bytes": {"$ref": "#/components/schemas/Count"}, "backlog_age_ms": {"$ref": "#/components/schemas/Count"},
    "last_value": {"type": "boolean"}
  }
},
"Transport": {
  "type": "object",
  "required": ["endpoints", "formats", "security", "delivery", "lost", "subscribers_revoked", "notices", "subscribers"],
  "properties": {
    "endpoints": {"$ref": "#/components/schemas/Endpoints"},
    "formats": {"type": "array", "items": {"$ref": "#/components/schemas/Format"}},
    "security": {"type": "array", "items": {"$ref": "#/components/schemas/Security"}},
    "delivery": {"type": "array", "items": {"$ref": "#/components/schemas/Delivery"}},
    "messages": {"$ref": "#/components/schemas/Count"}, "connections_accepted": {"$ref": "#/components/schemas/Count"},
    "connections_refused": {"$ref": "#/components/schemas/Count"},
    "accept_errors": {"$ref": "#/components/schemas/Count"},
    "handshakes_failed": {"$ref": "#/components/schemas/Count"}, "violations": {"$ref": "#/components/schemas/Count"},
    "heartbeat_timeouts": {"$ref": "#/components/schemas/Count"}, "subscribers_revoked": {"$ref": "#/components/schemas/Count"},
    "gap_overflows": {"$ref": "#/components/schemas/Count"},
    "subscriptions": {"$ref": "#/components/schemas/Count"},
    "subscriptions_refused": {"$ref": "#/components/schemas/Count"}, "received": {"$ref": "#/components/schemas/Count"},
    "matched": {"$ref": "#/components/schemas/Count"}, "sent": {"$ref": "#/components/schemas/Count"},
    "dropped": {"$ref": "#/components/schemas/Count"}, "pending": {"$ref": "#/components/schemas/Count"},
    "balanced": {"type": "boolean"},
    "lost": {"$ref": "#/components/schemas/Counts"},
    "notices": {"$ref": "#/components/schemas/NoticesByFormat"},
    "subscribers": {"type": "array", "items": {"$ref": "#/components/schemas/Subscriber"}}
  }
},
"Services": {
  "type": "object",
  "required": ["endpoints", "security", "peers", "requests", "errors", "replays_active"],
  "properties": {
    "endpoints": {"$ref": "#/components/schemas/Endpoints"},
    "security": {"type": "array", "items": {"$ref": "#/components/schemas/Security"}},
    "requests": {"$ref": "#/components/schemas/Counts"}, "errors": {"$ref": "#/components/schemas/Counts"},
    "peers": {"$ref": "#/components/schemas/Count"}, "connections_accepted": {"$ref": "#/components/schemas/Count"},
    "connections_refused": {"$ref": "#/components/schemas/Count"},
    "accept_errors": {"$ref": "#/components/schemas/Count"},
    "handshakes_failed": {"$ref": "#/components/schemas/Count"}, "violations": {"$ref": "#/components/schemas/Count"},
    "heartbeat_timeouts": {"$ref": "#/components/schemas/Count"}, "peers_revoked": {"$ref": "#/components/schemas/Count"},
    "replays_active": {"$ref": "#/components/schemas/Count"}, "replays_completed": {"$ref": "#/components/schemas/Count"},
    "samples_replayed": {"$ref": "#/components/schemas/Count"}, "replies_sent": {"$ref": "#/components/schemas/Count"},
    "replies_dropped": {"$ref": "#/components/schemas/Count"},
    "replies_pending": {"$ref": "#/components/schemas/Count"}, "replies_lost": {"$ref": "#/components/schemas/Count"},
    "backlog_bytes": {"$ref": "#/components/schemas/Count"}
  }
},
"Rest": {"type": "object", "required": ["endpoint"], "properties": {"endpoint": {"type": "string"}}},
"ChannelStatus": {
  "type": "object",
  "required": ["seq", "time", "value", "unit", "quality"],
  "properties": {
    "seq": {"$ref": "#/components/schemas/Count"}, "time": {"type": ["string", "null"]},
    "value": {"type": ["number", "string", "boolean", "null"]}, "unit": {"type": "string"},
    "quality": {"$ref": "#/components/schemas/Quality"}, "drops": {"$ref": "#/components/schemas/DropsByReason"}
  }
},
"ChannelStatusByTopic": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/ChannelStatus"}},
"AllChannelStatus": {
  "type": "object",
  "required": ["refused", "unclaimed", "last"],
  "properties": {
    "refused": {"$ref": "#/components/schemas/Count"},
    "unclaimed": {"type": "array", "items": {"type": "string"}}, "last": {"$ref": "#/components/schemas/ChannelStatusByTopic"}
  }
},
"Status": {
  "type": "object",
  "required": ["name", "version", "build", "state", "epoch", "time", "uptime_s", "clock", "previous_runs", "queue", "ledger",
    "sampler", "consumers", "recorders", "log", "uplinks", "transport", "services", "rest", "channels"],
  "properties": {
    "name": {"const": "telegate"},
    "version": {"type": "string"},
    "build": {"$ref": "#/components/schemas/Build"},
    "state": {"enum": ["starting", "running", "stopping"]},
    "epoch": {"$ref": "#/components/schemas/Count"},
    "time": {"type": "string"},
    "uptime_s": {"type": "number"},
    "clock": {"$ref": "#/components/schemas/Clock"},
    "config": {"$ref": "#/components/schemas/SettingsInForce"},
    "previous_runs": {"type": "array", "items": {"$ref": "#/components/schemas/PreviousRun"}},
    "queue": {"$ref": "#/components/schemas/Queue"},
    "ledger": {"$ref": "#/components/schemas/FullLedger"},
    "sampler": {"$ref": "#/components/schemas/Sampler"},
    "consumers": {"type": "array", "items": {"$ref": "#/components/schemas/Consumer"}},
    "recorders": {"type": "array", "items": {"$ref": "#/components/schemas/Recorder"}},
    "log": {"oneOf": [{"$ref": "#/components/schemas/DurableLog"}, {"type": "null"}]},
    "uplinks": {"type": "array", "items": {"$ref": "#/components/schemas/Uplink"}},
    "transport": {"$ref": "#/components/schemas/Transport"},
    "services": {"$ref": "#/components/schemas/Services"},
    "rest": {"$ref": "#/components/schemas/Rest"},
    "channels": {"$ref": "#/components/schemas/AllChannelStatus"}
  }
}
})json";

}  // namespace

std::string_view rest_status_schemas() noexcept {
    return status_schemas;
}

}  // namespace telegate
