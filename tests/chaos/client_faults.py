"""Checks a report of gateway_tail against the gateway's own counts."""


def range_faults(found, end):
    """Yields the errors in the ranges reported for a topic, which has `end` samples, or an unknown number if None."""
    ranges = [tuple(each) for each in found["received"]]
    ranges += [(each["first_seq"], each["last_seq"]) for each in found["lost"]]
    expected = 1
    for first, until in sorted(ranges):
        if first != expected or until < first:
            yield f"{first}..{until} follows {expected - 1}"
        expected = until + 1
    if end is not None and expected != end + 1:
        yield f"ends at {expected - 1} of {end}"


def faults_of(report, last):
    """Returns the errors in the report of a client."""
    if not report["complete"]:
        return ["the report does not list all lost ranges, so it cannot be checked"]
    faults = [f"{report['duplicates']} duplicates"] if report["duplicates"] else []
    told = {str(each["epoch"]): {topic["topic"]: topic for topic in each["topics"]} for each in report["epochs"]}
    faults += [f"{epoch}: unknown epoch" for epoch in told if epoch not in last]
    for epoch, topics in last.items():
        here = told.get(epoch, {})
        faults += [f"{epoch} {topic}: unknown topic" for topic in here if topic not in topics]
        for topic, end in topics.items():
            found = here.get(topic, {"received": [], "lost": []})
            faults += [f"{epoch} {topic}: {fault}" for fault in range_faults(found, end)]
    for each in report["epochs"]:
        is_known = None not in last.get(str(each["epoch"]), {}).values()
        if each["end_known"] != is_known:
            faults.append(f"{each['epoch']}: its end is reported as {'known' if each['end_known'] else 'unknown'}")
    is_doubtful = report["lost"] > 0 or not all(each["end_known"] for each in report["epochs"])
    if report["code"] != is_doubtful:
        faults.append(f"exit code {report['code']}")
    return faults
