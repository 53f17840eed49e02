import { StatusError } from '@skerry/api'
import type { SubresourceHandler, SubresourceRequest } from '../../contract/subresource.ts'
import type { NodeAccess } from './backend-dial.ts'
import type { BackendRequest } from './backend-request.ts'
import { forwardedToApi } from './forwarded-headers.ts'
import { kubeletTarget } from './kubelet-target.ts'
import { chooseContainer, findPod, nodeOf } from './pod-container.ts'
import { wellKnown } from '../../contract/well-known-resources.ts'
import { passUpgrade, writeRefusal } from './upgrade-tunnel.ts'

/** Returns the kubelet's path for a session. */
type KubeletPath = (request: SubresourceRequest) => string

/** Serves pods/exec, attach and portforward: sessions that the API server passes through unread. */
export function createPodStreamHandler(
  access: NodeAccess,
  subresource: 'exec' | 'attach' | 'portforward',
): SubresourceHandler {
  const pathOf = subresource === 'portforward' ? portForwardPath : containerPath(subresource)
  return {
    async serve(request) {
      await request.requireVerb('create')
      // Wrong names, containers and nodes are refused first, as they would be with an upgrade.
      toBackend(request, pathOf, access)
      throw new StatusError('BadRequest', 'Upgrade request required')
    },
    async upgrade(request, client) {
      let backend: BackendRequest
      try {
        // A WebSocket comes as a GET: a user who may only read must not open a session with it.
        await request.requireVerb('create')
        backend = toBackend(request, pathOf, access)
        await request.admit(undefined)
      } catch (error) {
        return writeRefusal(client, error)
      }
      await passUpgrade(backend, client, request.signal)
    },
  }
}

function toBackend(
  request: SubresourceRequest,
  pathOf: KubeletPath,
  { dial, clock }: NodeAccess,
): BackendRequest {
  // The node is checked before the command: a client that names no command learns first that no
  // node could run one.
  const target = podTarget(request, pathOf !== portForwardPath)
  const path = pathOf(request)
  return {
    method: request.method,
    path,
    host: `${target.host}:${target.port}`,
    headers: forwardedToApi(request.headers),
    dial: (scope) => dial.dialNode(target, scope),
    clock,
  }
}

function podTarget({ objects, namespace, name, query }: SubresourceRequest, hasContainer: boolean) {
  const pod = findPod(objects, { namespace, name })
  if (hasContainer) chooseContainer(pod, query.get('container') ?? '')
  return kubeletTarget(objects, nodeOf(pod), wellKnown.pods)
}

/** Maps flags of the API to the kubelet's names. */
const streamFlags: Readonly<Record<string, string>> = Object.freeze({
  stdin: 'input',
  stdout: 'output',
  stderr: 'error',
  tty: 'tty',
})

function containerPath(verb: 'exec' | 'attach'): KubeletPath {
  return ({ objects, namespace, name, query }) => {
    const pod = findPod(objects, { namespace, name })
    const container = chooseContainer(pod, query.get('container') ?? '')
    const parameters = new URLSearchParams()
    for (const [flag, kubeletFlag] of Object.entries(streamFlags)) {
      if (isSet(query, flag)) parameters.set(kubeletFlag, '1')
    }
    const command = verb === 'exec' ? query.getAll('command') : []
    for (const word of command) parameters.append('command', word)
    checkStreams(verb, command, parameters)
    return `/${verb}/${namespace}/${name}/${container}?${parameters.toString()}`
  }
}

/** Upstream's defaults: output is wanted unless the client disables it. */
function isSet(query: URLSearchParams, flag: string): boolean {
  const value = query.get(flag)
  if (value === null) return false
  return value === '' || value === 'true' || value === '1'
}

function checkStreams(verb: string, command: readonly string[], flags: URLSearchParams): void {
  const hasStream = ['input', 'output', 'error'].some((flag) => flags.has(flag))
  if (!hasStream) {
    throw new StatusError('BadRequest', 'you must specify at least 1 of stdin, stdout, stderr')
  }
  if (verb === 'exec' && command.length === 0) {
    throw new StatusError('BadRequest', 'you must specify at least one command for the container')
  }
}

function portForwardPath({ namespace, name, query }: SubresourceRequest): string {
  const ports = query.getAll('ports').flatMap((text) => text.split(','))
  if (ports.length === 0) return `/portForward/${namespace}/${name}`
  const parameters = new URLSearchParams({ port: ports.join(',') })
  return `/portForward/${namespace}/${name}?${parameters.toString()}`
}
