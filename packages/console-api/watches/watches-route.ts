import { StatusError } from '@skerry/api'
import type { Route } from '@skerry/apiserver'
import { UserPlaces } from '../request/user-places.ts'
import { consoleBounds } from '../limits-table.ts'
import type { TabDeps } from './serve-tab.ts'

export const watchesPath = '/hub/v1/watches'

const { streamsPerUserMax } = consoleBounds.watchesRoute

/**
 * Serves everything that a tab watches in one WebSocket. Each watch is a request of the tab's user of its own, with the
 * same checks, records and limits as any other.
 */
export function watchesRoute(deps: TabDeps): Route {
  const places = new UserPlaces({ name: 'streams of watches', perUserMax: streamsPerUserMax })
  return {
    prefix: watchesPath,
    matches: ({ path }) => path === watchesPath,
    serve: async () => {
      throw new StatusError('BadRequest', 'Cannot watch: this path is for WebSockets')
    },
    async upgrade(admitted, client) {
      using _place = places.take(admitted.user.name)
      // Imported with the first tab, because most hubs have none for long.
      const { serveTab } = await import('./serve-tab.ts')
      await serveTab(admitted, client, deps)
    },
  }
}
