import { join } from 'node:path'
import type { EndpointSlice } from '@skerry/api'
import { asError, hostAndPort, runAll, type Logger } from '@skerry/base'
import { readFileIfPresent, writeFileDurably } from '@skerry/bootstrap'
import { resources, type ApiServers, type ClusterClient } from '@skerry/client'
import { createClockCheck } from './clock-check.ts'
import { runtimeBounds } from './limits-table.ts'
import type { RoleContext } from './role-context.ts'

export interface FollowedServers {
  readonly servers: ApiServers
  readonly cluster: ClusterClient
  /** The directory that keeps the list for the next start. */
  readonly directory: string
}

const { lookMs } = runtimeBounds.followApiServers

/** Keeps to a server that answers, and learns the cluster's servers from the service `kubernetes`. */
export async function followApiServers(
  { servers, cluster, directory }: FollowedServers,
  { clock, log }: Pick<RoleContext, 'clock' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  const clockCheck = createClockCheck('server', { clock, log })
  const learn = async (scope: AbortSignal): Promise<never> => {
    for (;;) {
      try {
        const request = {
          namespace: 'default',
          labelSelector: 'kubernetes.io/service-name=kubernetes',
          resourceVersion: '0',
        }
        const { items } = await cluster.resource(resources.endpointSlices).list(request, scope)
        if (servers.setNamed(urlsOf(items))) await keep(directory, servers.named())
      } catch (error) {
        scope.throwIfAborted()
        log.info('API servers not learned, trying again', { error: asError(error) })
        await clockCheck.look(servers.current, scope)
        scope.throwIfAborted()
      }
      await clock.sleep(lookMs, scope)
    }
  }
  using _servers = servers
  await runAll(signal, [(scope) => servers.run(scope), learn])
}

/** Returns the servers that an earlier start learned. A damaged list is ignored and learned again. */
export async function namedServers(directory: string, log: Logger): Promise<string[]> {
  const path = join(directory, 'servers')
  const text = (await readFileIfPresent(path)) ?? ''
  const lines = text.split('\n').filter((line) => line !== '')
  if (lines.every((line) => URL.parse(line)?.protocol === 'https:')) return lines
  log.info('List of API servers is damaged, learning it again', { path })
  return []
}

/** The list survives a cut of power: a node may start while only one of its servers answers. */
function keep(directory: string, urls: readonly string[]): Promise<void> {
  return writeFileDurably(join(directory, 'servers'), `${urls.join('\n')}\n`, 0o644)
}

function urlsOf(slices: readonly EndpointSlice[]): string[] {
  return slices.flatMap(({ endpoints, ports }) => {
    const port = ports?.find(({ name }) => name === 'https')?.port
    if (port === undefined || port === null) return []
    return (endpoints ?? [])
      .filter(({ conditions }) => conditions?.ready !== false)
      .flatMap(({ addresses }) => addresses ?? [])
      .map((host) => `https://${hostAndPort({ host, port })}`)
      .filter((url) => URL.canParse(url))
  })
}
