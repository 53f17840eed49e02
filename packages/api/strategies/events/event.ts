import type { Event, EventsV1Event } from '../../generated/types.ts'
import { strategyOf } from '../typed-strategy.ts'

export const eventStrategy = strategyOf<Event>({
  hasGeneration: false,
  allowCreateOnUpdate: true,
  defaults(event) {
    event.source ??= {}
    event.reportingComponent ??= ''
    event.reportingInstance ??= ''
  },
})

export const eventsEventStrategy = strategyOf<EventsV1Event>({
  hasGeneration: false,
  allowCreateOnUpdate: true,
  defaults(event) {
    event.deprecatedSource ??= {}
  },
})
