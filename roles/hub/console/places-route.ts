import { StatusError } from '@skerry/api'
import type { Route } from '@skerry/apiserver'
import { resources, type ClusterClient } from '@skerry/client'
import { jsonAnswer } from '@skerry/console-api'
import type { OpenHub } from '../contract/hub-part.ts'
import { asksAsUser, notAllowed } from './user-hub.ts'
import { askSite, clusterPattern } from './user-site.ts'

const path = new RegExp(
  `^/hub/v1/clusters/(${clusterPattern})/(application-in-places|service-in-places)$`,
)

/**
 * Explains what runs in the places of a cluster: the children of one application, and the pods that a service leads each place
 * to. Everything is read with the rights of the asker in that cluster.
 */
export function placesRoute(hub: OpenHub): Route {
  return {
    prefix: '/hub/v1/clusters/',
    matches: ({ path: asked }) => path.test(asked),
    async serve({ info, user, signal }) {
      if (info.method !== 'GET') throw notAllowed()
      const [, name = '', question = ''] = path.exec(info.path) ?? []
      const explain = questions[question]
      if (!explain) throw new StatusError('NotFound', `there is no ${info.path}`)
      const { doing } = explain
      const asked = readAsked(info.query, doing)
      const answer = await askSite(
        hub,
        { user, name, doing },
        (site, scope) => explain.ask(site, asked, scope),
        signal,
      )
      return jsonAnswer(200, answer)
    },
  }
}

/** The cluster is asked with the user's own rights. */
export const placesAuthorizer = asksAsUser(['get'], (asked) => path.test(asked))

interface Asked {
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

function readAsked(query: URLSearchParams, doing: string): Asked {
  const of = (name: string): string => query.get(name) ?? ''
  const asked = { kind: of('kind'), namespace: of('namespace'), name: of('name') }
  if (asked.namespace !== '' && asked.name !== '') return asked
  throw new StatusError('BadRequest', `Cannot ${doing}: name it by namespace and name`)
}

interface Question {
  readonly doing: string
  readonly ask: (site: ClusterClient, asked: Asked, signal: AbortSignal) => Promise<object>
}

const questions: Readonly<Record<string, Question>> = {
  'application-in-places': { doing: 'explain an application in places', ask: askApplication },
  'service-in-places': { doing: 'find the way of a service', ask: askService },
}

// The rules of both are imported with the first question: most hubs are never asked.
async function askApplication(
  site: ClusterClient,
  asked: Asked,
  signal: AbortSignal,
): Promise<object> {
  const { explainApplication } = await import('@skerry/edge-apps')
  const told = await explainApplication(site, asked, signal)
  if (told) return told
  const text = `Cannot explain an application in places: ${JSON.stringify(asked.kind)} is not a kind of one`
  throw new StatusError('BadRequest', text)
}

async function askService(
  site: ClusterClient,
  { namespace, name }: Asked,
  signal: AbortSignal,
): Promise<object> {
  const { serviceReach } = await import('@skerry/service-proxy')
  const service = await site.resource(resources.services).get({ namespace, name }, signal)
  const labelSelector = `kubernetes.io/service-name=${name}`
  const slices = await site
    .resource(resources.endpointSlices)
    .list({ namespace, labelSelector }, signal)
  const nodes = await site.resource(resources.nodes).list({}, signal)
  return serviceReach(service, slices.items, nodes.items)
}
