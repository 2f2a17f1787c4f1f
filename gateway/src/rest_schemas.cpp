#include "rest_schemas.hpp"

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
    "errors": {"type": "array", "items": {
      "type": "object",
      "required": ["detail"],
      "properties": {
        "parameter": {"type": "string"}, "pointer": {"type": "string"}, "detail": {"type": "string"}
      }
    }},
    "devices": {"$ref": "#/components/schemas/DeviceStates/properties/devices"}
  }
},
"Count": {"type": "integer", "minimum": 0},
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
    "quality": {"enum": ["good", "uncertain", "bad", "stale"]},
    "time_quality": {"enum": ["unsynchronised"]},
    "mono_ns": {"type": "integer"}
  }
},
"Books": {
  "type": "object",
  "required": ["sampled", "published", "filtered", "queued", "dropped"],
  "properties": {
    "sampled": {"$ref": "#/components/schemas/Count"},
    "published": {"$ref": "#/components/schemas/Count"},
    "filtered": {"$ref": "#/components/schemas/Count"},
    "queued": {"$ref": "#/components/schemas/Count"},
    "dropped": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Count"}},
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
"ChannelBooks": {
  "allOf": [{"$ref": "#/components/schemas/Books"}],
  "type": "object",
  "required": ["drops"],
  "properties": {
    "drops": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Drops"}}
  }
},
"DeviceState": {"enum": ["idle", "measuring", "error", "safe"]},
"Device": {
  "type": "object",
  "required": ["name", "state", "interval_ms", "channels", "reads", "reads_failed", "ticks_missed", "reads_skipped",
    "failures_in_row", "lost_at_source", "filtered_by", "thread", "breaker", "last_error", "lateness_s"],
  "properties": {
    "name": {"type": "string"},
    "state": {"$ref": "#/components/schemas/DeviceState"},
    "interval_ms": {"type": "number", "minimum": 0},
    "channels": {"$ref": "#/components/schemas/Count"},
    "reads": {"$ref": "#/components/schemas/Count"},
    "reads_failed": {"$ref": "#/components/schemas/Count"},
    "ticks_missed": {"$ref": "#/components/schemas/Count"},
    "reads_skipped": {"$ref": "#/components/schemas/Count"},
    "failures_in_row": {"$ref": "#/components/schemas/Count"},
    "lost_at_source": {"$ref": "#/components/schemas/Count"},
    "filtered_by": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Count"}},
    "thread": {"type": "string"},
    "breaker": {"enum": ["closed", "open", "half_open", null]},
    "last_error": {"type": ["string", "null"]},
    "lateness_s": {"type": "object", "additionalProperties": {"type": "number"}},
    "books": {"$ref": "#/components/schemas/Books"}
  }
},
"Devices": {
  "type": "object",
  "required": ["devices"],
  "properties": {"devices": {"type": "array", "items": {"$ref": "#/components/schemas/Device"}}}
},
"DeviceStates": {
  "type": "object",
  "required": ["devices"],
  "properties": {"devices": {"type": "array", "items": {
    "type": "object",
    "required": ["name", "state"],
    "properties": {"name": {"type": "string"}, "state": {"$ref": "#/components/schemas/DeviceState"}}
  }}}
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
"Subscriber": {
  "type": "object",
  "required": ["id", "endpoint", "format", "peer", "subscriptions", "subscriptions_count", "matched", "sent", "dropped",
    "pending", "balanced", "losses", "backlog_bytes", "holds_up", "received", "zmtp", "mechanism", "curve_key", "silent_ms", "round_trip_s"],
  "properties": {
    "id": {"type": ["string", "integer"]},
    "endpoint": {"type": "string"},
    "format": {"enum": ["json", "cbor", "record"]},
    "peer": {"type": "string"},
    "subscriptions": {"type": "array", "items": {"type": "string"}},
    "subscriptions_count": {"$ref": "#/components/schemas/Count"},
    "matched": {"$ref": "#/components/schemas/Count"},
    "sent": {"$ref": "#/components/schemas/Count"},
    "dropped": {"$ref": "#/components/schemas/Count"},
    "pending": {"$ref": "#/components/schemas/Count"},
    "balanced": {"type": "boolean"},
    "losses": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Losses"}},
    "backlog_bytes": {"$ref": "#/components/schemas/Count"},
    "holds_up": {"type": "boolean"},
    "received": {"$ref": "#/components/schemas/Count"},
    "zmtp": {"type": "string"},
    "mechanism": {"enum": ["NULL", "CURVE"]},
    "curve_key": {"type": ["string", "null"]},
    "silent_ms": {"type": "integer"},
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
"Channels": {
  "type": "object",
  "required": ["channels", "refused"],
  "properties": {
    "channels": {"type": "array", "items": {
      "type": "object",
      "required": ["topic", "device", "channel", "unit", "books"],
      "properties": {
        "topic": {"type": "string"}, "device": {"type": "string"}, "channel": {"type": "string"},
        "unit": {"type": "string"}, "books": {"$ref": "#/components/schemas/ChannelBooks"}
      }
    }},
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
"ChannelSamples": {
  "type": "object",
  "required": ["topic", "unit", "epoch", "gap", "more", "samples"],
  "properties": {
    "topic": {"type": "string"},
    "unit": {"type": "string"},
    "epoch": {"$ref": "#/components/schemas/Count"},
    "gap": {
      "type": ["object", "null"],
      "required": ["first_seq", "last_seq"],
      "properties": {
        "first_seq": {"$ref": "#/components/schemas/Count"}, "last_seq": {"$ref": "#/components/schemas/Count"}
      }
    },
    "more": {"type": "boolean"},
    "samples": {"type": "array", "items": {"$ref": "#/components/schemas/Sample"}}
  }
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
"ReloadReport": {
  "type": "object",
  "required": ["outcome", "generation", "changes", "errors"],
  "properties": {
    "outcome": {"enum": ["applied", "unchanged", "planned"]},
    "generation": {"type": "integer", "minimum": 1},
    "changes": {"type": "array", "items": {
      "type": "object",
      "required": ["key", "kind", "applies"],
      "properties": {
        "key": {"type": "string"}, "kind": {"enum": ["changed", "added", "removed"]},
        "from": {"type": "string"}, "to": {"type": "string"}, "applies": {"enum": ["live", "restart"]}
      }
    }},
    "errors": {"type": "array"},
    "credentials": {"enum": ["none", "same", "changed"]}
  }
},
"Status": {
  "type": "object",
  "required": ["name", "version", "build", "state", "epoch", "time", "uptime_s", "clock", "queue", "books", "sampler",
    "recorders", "transport",
    "services", "rest", "channels"],
  "properties": {
    "name": {"const": "telegate"},
    "version": {"type": "string"},
    "build": {"type": "object"},
    "state": {"enum": ["starting", "running", "stopping"]},
    "epoch": {"$ref": "#/components/schemas/Count"},
    "time": {"type": "string"},
    "uptime_s": {"type": "number"},
    "clock": {
      "type": "object",
      "required": ["synchronised", "estimated_error_s", "maximum_error_s", "steps", "last_step", "offset_ns"],
      "properties": {
        "synchronised": {"type": ["boolean", "null"]},
        "estimated_error_s": {"type": ["number", "null"]},
        "maximum_error_s": {"type": ["number", "null"]},
        "frequency_ppm": {"type": ["number", "null"]},
        "problem": {"type": ["string", "null"]},
        "steps": {"$ref": "#/components/schemas/Count"},
        "last_step": {"type": ["object", "null"], "required": ["time", "seconds"]},
        "offset_ns": {"type": "integer"}
      }
    },
    "queue": {"type": "object", "required": ["depth", "capacity", "high_water", "policy"]},
    "books": {
      "type": "object",
      "required": ["balanced", "total", "devices"],
      "properties": {
        "balanced": {"type": "boolean"},
        "total": {"$ref": "#/components/schemas/Books"},
        "devices": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Books"}}
      }
    },
    "sampler": {
      "type": "object",
      "required": ["devices"],
      "properties": {"devices": {"type": "array", "items": {"$ref": "#/components/schemas/Device"}}}
    },
    "recorders": {"type": "array", "items": {
      "type": "object",
      "required": ["path", "device", "samples", "lost", "pending", "bytes", "error"],
      "properties": {
        "path": {"type": "string"}, "device": {"type": ["string", "null"]},
        "samples": {"$ref": "#/components/schemas/Count"}, "lost": {"$ref": "#/components/schemas/Count"},
        "pending": {"$ref": "#/components/schemas/Count"}, "bytes": {"$ref": "#/components/schemas/Count"},
        "error": {"type": ["string", "null"]}
      }
    }},
    "transport": {
      "type": "object",
      "required": ["endpoints", "security", "delivery", "lost", "subscribers_revoked", "notices", "subscribers"],
      "properties": {
        "notices": {"type": "object", "additionalProperties": {
          "type": "object",
          "required": ["gaps", "beats"],
          "properties": {
            "gaps": {"$ref": "#/components/schemas/Count"}, "beats": {"$ref": "#/components/schemas/Count"}
          }
        }},
        "security": {"type": "array", "items": {
          "type": "object",
          "required": ["mechanism"],
          "properties": {
            "mechanism": {"enum": ["NULL", "CURVE"]},
            "public_key": {"type": "string"},
            "clients": {"type": ["integer", "null"], "minimum": 0}
          }
        }},
        "delivery": {"type": "array", "items": {
          "type": "object",
          "required": ["policy", "backlog_bytes", "backlog_age_ms", "last_value"],
          "properties": {
            "policy": {"enum": ["drop_oldest", "drop_newest", "disconnect", "block", "conflate"]},
            "backlog_bytes": {"$ref": "#/components/schemas/Count"},
            "backlog_age_ms": {"$ref": "#/components/schemas/Count"},
            "last_value": {"type": "boolean"}
          }
        }},
        "lost": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Count"}},
        "subscribers_gapped": {"$ref": "#/components/schemas/Count"},
        "subscribers_revoked": {"$ref": "#/components/schemas/Count"},
        "subscribers": {"type": "array", "items": {"$ref": "#/components/schemas/Subscriber"}}
      }
    },
    "services": {"type": "object", "required": ["endpoints", "security", "peers", "requests", "errors", "replays_at_work"]},
    "rest": {"type": "object"},
    "channels": {"type": "object", "required": ["refused", "last"]}
  }
},
"OpenApi": {"type": "object", "required": ["openapi", "info", "paths"]}
})json";

}  // namespace

std::string_view rest_schemas() noexcept {
    return schemas;
}

}  // namespace telegate
