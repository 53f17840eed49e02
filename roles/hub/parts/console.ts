import {
  consoleFilesAuthorizer,
  consoleFilesRoute,
  consoleTarget,
  createConsoleRoutes,
  createConsoleSessions,
  type ConsoleRoutes,
  type ConsoleSessions,
} from '@skerry/console-api'
import type { OidcClient } from '@skerry/client'
import { clusterResource, parentOf } from '@skerry/fleet-kinds'
import { version } from '../../runtime/version.ts'
import { readConsoleFiles } from '../console/console-files.ts'
import { explainAuthorizer, explainRoute } from '../console/explain-route.ts'
import { hubInfoAuthorizer, hubInfoRoute } from '../console/hub-info-route.ts'
import { nodeJoinAuthorizer, nodeJoinRoute } from '../console/node-join-route.ts'
import { placesAuthorizer, placesRoute } from '../console/places-route.ts'
import { registrationsAuthorizer, registrationsRoute } from '../console/registrations-route.ts'
import { usersAuthorizer, usersRoute } from '../console/users-route.ts'
import { previewAuthorizer, previewRoute } from '../console/preview-route.ts'
import type { HubPart, OpenHub } from '../contract/hub-part.ts'
import { loginOffersOf, type LoginFlags } from '../contract/login-flags.ts'

export interface ConsoleOptions {
  readonly login?: LoginFlags | undefined
  /** The directory of the console's files. If omitted, they are next to the program. */
  readonly directory?: string | undefined
}

/** Serves the web console: logs browsers in, and gives them the pages. */
export function webConsole({ login = {}, directory }: ConsoleOptions): HubPart {
  return {
    retarget: consoleTarget,
    open(hub) {
      const sessions = openSessions(hub, login)
      const reading = openRoutes(hub)
      const files = consoleFilesRoute(readConsoleFiles(directory))
      const asUser = [
        explainRoute,
        previewRoute,
        nodeJoinRoute,
        placesRoute,
        registrationsRoute,
        usersRoute,
        hubInfoRoute,
      ]
      const pages = asUser.map((route) => route(hub))
      const own = [...sessions.authorizers, consoleFilesAuthorizer, reading.authorizer]
      return {
        routes: () => [...sessions.routes, files, ...reading.routes, ...pages],
        access: () => ({
          authorizers: [...own, ...asUserAuthorizers],
          callers: sessions.callers,
        }),
        tasks: () => [sessions.sweep, reading.run],
      }
    },
  }
}

const asUserAuthorizers = [
  explainAuthorizer,
  previewAuthorizer,
  nodeJoinAuthorizer,
  placesAuthorizer,
  registrationsAuthorizer,
  usersAuthorizer,
  hubInfoAuthorizer,
]

function openRoutes({
  server,
  objects,
  connections,
  audit: { path },
  context,
}: OpenHub): ConsoleRoutes {
  const { clusters, own } = connections
  const linkOf = (cluster: string) => {
    const open = own.sessions(cluster).filter(({ isOpen }) => isOpen).length
    const tunnels = clusters.isConnected(cluster) ? Math.max(1, open) : 0
    return { tunnels, lastEnd: tunnels > 0 ? undefined : clusters.lastEnd(cluster)?.reason }
  }
  // A virtual cluster is reachable if its parent is, but the parent's traffic is not its own.
  const sample = (name: string) => {
    const object = objects.get(clusterResource, '', name)
    const parent = object && parentOf(object)
    const open = own.sessions(name).filter(({ isOpen }) => isOpen)
    const sum = (of: (session: (typeof open)[number]) => number): number =>
      open.reduce((total, session) => total + of(session), 0)
    return {
      isConnected: clusters.isConnected(parent ?? name),
      rttMs: open[0]?.rttMs,
      upPerSecond: sum(({ byteRates }) => byteRates.inPerSecond),
      downPerSecond: sum(({ byteRates }) => byteRates.outPerSecond),
    }
  }
  const audit = { file: path, replica: () => connections.replicas.self()?.id }
  return createConsoleRoutes({ server, objects, linkOf, sample, audit, ...context })
}

function openSessions(
  { server, objects, pki, issuers, context: { clock, log } }: OpenHub,
  login: LoginFlags,
): ConsoleSessions {
  return createConsoleSessions({
    server,
    objects,
    hubKeyPem: pki.authority.privateKeyPem,
    issuerClient: () => clientOf(loginOffersOf(login, issuers())),
    hub: { name: 'skerry-hub', version },
    clock,
    log,
  })
}

function clientOf([offer]: ReturnType<typeof loginOffersOf>): OidcClient | undefined {
  if (!offer) return undefined
  const { issuerUrl, clientId, scopes, certificateAuthority: authorityPem } = offer
  return { issuerUrl, clientId, scopes, authorityPem }
}
