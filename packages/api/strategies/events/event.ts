import type { Event, EventsV1Event } from '../../generated/types.ts'
import { strategyOf } from '../typed-strategy.ts'
import {
  validateEvent,
  validateEventsEvent,
  validateEventsEventUpdate,
} from './event-validation.ts'

export const eventStrategy = strategyOf<Event>({
  validate: validateEvent,
  validateUpdate: validateEvent,
  hasGeneration: false,
  allowCreateOnUpdate: true,
  // Clients of before 1.19 name events as they like.
  nameRule: 'path-segment',
  defaults(event) {
    for (const key of ['firstTimestamp', 'lastTimestamp', 'eventTime']) writeTime(event, key)
    event.source ??= {}
    event.reportingComponent ??= ''
    event.reportingInstance ??= ''
  },
})

export const eventsEventStrategy = strategyOf<EventsV1Event>({
  validate: validateEventsEvent,
  validateUpdate: validateEventsEventUpdate,
  hasGeneration: false,
  allowCreateOnUpdate: true,
  defaults(event) {
    for (const key of ['deprecatedFirstTimestamp', 'deprecatedLastTimestamp']) writeTime(event, key)
    event.deprecatedSource ??= {}
  },
})

/** Times are structs upstream, which always writes them. */
function writeTime(event: object, key: string): void {
  // Every event is a JSON object.
  const fields = event as Record<string, unknown>
  fields[key] ??= null
}
