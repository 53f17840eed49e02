import type { Event, EventsV1Event } from '@skerry/api'
import { strategyOf } from '../typed-strategy.ts'
import {
  validateEvent,
  validateEventsEvent,
  validateEventsEventForm,
  validateEventsEventUpdate,
} from './event-validation.ts'

export const eventStrategy = strategyOf<Event>({
  validate: validateEvent,
  validateUpdate: validateEvent,
  hasGeneration: false,
  allowCreateOnUpdate: true,
  defaultGarbageCollection: 'none',
  // Clients older than 1.19 name events freely.
  nameRule: 'path-segment',
  defaults(event) {
    event.source ??= {}
    event.reportingComponent ??= ''
    event.reportingInstance ??= ''
  },
})

export const eventsEventStrategy = strategyOf<EventsV1Event>({
  validateForm: validateEventsEventForm,
  validate: validateEventsEvent,
  validateUpdate: validateEventsEventUpdate,
  hasGeneration: false,
  allowCreateOnUpdate: true,
  defaultGarbageCollection: 'none',
  defaults(event) {
    event.deprecatedSource ??= {}
  },
})
