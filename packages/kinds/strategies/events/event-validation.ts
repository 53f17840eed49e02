import {
  checkDnsSubdomain,
  fieldInvalid,
  fieldRequired,
  type Event,
  type EventSeries,
  type EventSource,
  type EventsV1Event,
  type ObjectReference,
  type StatusCause,
} from '@skerry/api'
import { addInvalid, checkQualifiedField, isLongerThan, isSame, type Found } from '../checks.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'

/** The fields that both kinds of event share, with the names that causes use for them. */
interface EventFacts {
  readonly namespace: string
  readonly aboutNamespace: string
  readonly eventTime?: string
  readonly reporter: string
  readonly reporterField: string
  readonly instance: string
  readonly action: string
  readonly reason: string
  readonly message: string
}

export function validateEvent(event: LooseObject<Event>): StatusCause[] {
  return checkFacts(factsOfCore(event))
}

/** Checks what events of both groups have in common. */
export function validateEventsEventForm(event: LooseObject<EventsV1Event>): StatusCause[] {
  return checkFacts(factsOf(event))
}

export function validateEventsEvent(event: LooseObject<EventsV1Event>): StatusCause[] {
  const found: Found = validateEventsEventForm(event)
  checkSeries(event.series, found)
  if (!event.eventTime) found.push(fieldRequired('eventTime'))
  const { type = '' } = event
  if (type !== 'Normal' && type !== 'Warning') {
    found.push(fieldInvalid('type', '', `has invalid value: ${type}`))
  }
  const { deprecatedSource: source = {} } = event
  const old: readonly (readonly [field: string, isSet: boolean])[] = [
    ['firstTimestamp', Boolean(event.deprecatedFirstTimestamp)],
    ['lastTimestamp', Boolean(event.deprecatedLastTimestamp)],
    ['count', Boolean(event.deprecatedCount)],
    ['source', Boolean(source.component || source.host)],
  ]
  for (const [field, isSet] of old) {
    if (isSet) found.push(fieldInvalid(field, '', 'needs to be unset'))
  }
  return found
}

/** A reporter may only record that the same event occurred again. */
export function validateEventsEventUpdate(
  next: LooseObject<EventsV1Event>,
  old: LooseObject<EventsV1Event>,
): StatusCause[] {
  const found: Found = []
  if (!isSame(next.series, old.series)) checkSeries(next.series, found)
  for (const [key, field, show] of fixedFields) {
    if (!isSame(next[key], old[key])) {
      found.push(fieldInvalid(field, show(next), 'field is immutable'))
    }
  }
  return found
}

type ShownField = readonly [
  key: keyof EventsV1Event,
  field: string,
  show: (event: LooseObject<EventsV1Event>) => unknown,
]

/** Fields with the names of upstream's own type, which it shows. */
const fixedFields: readonly ShownField[] = [
  ['regarding', 'involvedObject', ({ regarding = {} }) => shownReference(regarding)],
  ['reason', 'reason', ({ reason = '' }) => reason],
  ['note', 'message', ({ note = '' }) => note],
  ['deprecatedSource', 'source', ({ deprecatedSource = {} }) => shownSource(deprecatedSource)],
  ['deprecatedFirstTimestamp', 'firstTimestamp', (event) => event.deprecatedFirstTimestamp ?? null],
  ['deprecatedLastTimestamp', 'lastTimestamp', (event) => event.deprecatedLastTimestamp ?? null],
  ['deprecatedCount', 'count', ({ deprecatedCount = 0 }) => deprecatedCount],
  ['reason', 'reason', ({ reason = '' }) => reason],
  ['type', 'type', ({ type = '' }) => type],
  ['eventTime', 'eventTime', ({ eventTime }) => eventTime ?? null],
  ['action', 'action', ({ action = '' }) => action],
  ['related', 'related', ({ related }) => (related ? shownReference(related) : null)],
  ['reportingController', 'reportingController', (event) => event.reportingController ?? ''],
  ['reportingInstance', 'reportingInstance', (event) => event.reportingInstance ?? ''],
]

function shownReference(reference: Loose<ObjectReference>): object {
  const { kind = '', namespace = '', name = '', uid = '', fieldPath = '' } = reference
  const { apiVersion = '', resourceVersion = '' } = reference
  return {
    Kind: kind,
    Namespace: namespace,
    Name: name,
    UID: uid,
    APIVersion: apiVersion,
    ResourceVersion: resourceVersion,
    FieldPath: fieldPath,
  }
}

function shownSource({ component = '', host = '' }: Loose<EventSource>): object {
  return { Component: component, Host: host }
}

function factsOfCore(event: LooseObject<Event>): EventFacts {
  const { action = '', eventTime, message = '', metadata, reason = '' } = event
  return {
    namespace: metadata.namespace ?? '',
    aboutNamespace: event.involvedObject?.namespace ?? '',
    ...(eventTime ? { eventTime } : {}),
    reporter: event.reportingComponent ?? '',
    reporterField: 'reportingComponent',
    instance: event.reportingInstance ?? '',
    action,
    reason,
    message,
  }
}

function factsOf(event: LooseObject<EventsV1Event>): EventFacts {
  const { action = '', eventTime, metadata, note = '', reason = '' } = event
  return {
    namespace: metadata.namespace ?? '',
    aboutNamespace: event.regarding?.namespace ?? '',
    ...(eventTime ? { eventTime } : {}),
    reporter: event.reportingController ?? '',
    reporterField: 'reportingController',
    instance: event.reportingInstance ?? '',
    action,
    reason,
    message: note,
  }
}

function checkFacts(facts: EventFacts): Found {
  const found: Found = []
  const { namespace } = facts
  if (!isPlaceRight(facts)) {
    const detail = 'does not match event.namespace'
    found.push(fieldInvalid('involvedObject.namespace', facts.aboutNamespace, detail))
  }
  // Events without this time were written by clients older than the rules below.
  if (facts.eventTime !== undefined) checkReport(facts, found)
  addInvalid(found, 'namespace', namespace, checkDnsSubdomain(namespace))
  return found
}

/** Events about objects of a namespace are in the same namespace. */
function isPlaceRight({ namespace, aboutNamespace, eventTime }: EventFacts): boolean {
  if (aboutNamespace) return eventTime !== undefined || namespace === aboutNamespace
  if (namespace === 'default') return true
  return eventTime === undefined ? namespace === '' : namespace === 'kube-system'
}

function checkReport(facts: EventFacts, found: Found): void {
  const { reporter, reporterField } = facts
  if (!reporter) found.push(fieldRequired(reporterField))
  checkQualifiedField(reporter, reporterField, found)
  checkLength(facts.instance, 'reportingInstance', found)
  checkLength(facts.action, 'action', found)
  checkLength(facts.reason, 'reason', found)
  if (isLongerThan(facts.message, 1024)) {
    found.push(fieldInvalid('message', '', 'can have at most 1024 characters'))
  }
}

function checkLength(text: string, field: string, found: Found): void {
  if (!text) found.push(fieldRequired(field))
  if (isLongerThan(text, 128)) {
    found.push(fieldInvalid(field, '', 'can have at most 128 characters'))
  }
}

function checkSeries(series: Loose<EventSeries> | undefined, found: Found): void {
  if (!series) return
  if ((series.count ?? 0) < 2) found.push(fieldInvalid('series.count', '', 'should be at least 2'))
  if (!series.lastObservedTime) found.push(fieldRequired('series.lastObservedTime'))
}
