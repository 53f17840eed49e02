import { StatusError, type Pod } from '@skerry/api'
import {
  createLogHandler,
  createPodStreamHandler,
  type ApiAnswer,
  type PartCaller,
  type ReadPath,
  type RequestInfo,
  type SubresourceHandler,
  type UpgradeSocket,
} from '@skerry/apiserver'
import type { Clock } from '@skerry/base'
import { sufficientRights } from '../access/asked-right.ts'
import type { Rights } from '../access/rights.ts'
import { nodeApiBounds } from '../limits-table.ts'
import type { LocalNode } from '../access/local-node.ts'
import { askedText, type AwayRequest } from './away-refusals.ts'

const { sessionsMax, sessionsPerUserMax } = nodeApiBounds.podSessions

export interface PodSessionsDeps {
  readonly readPath: ReadPath
  readonly rights: Rights
  readonly node: Pick<LocalNode, 'findPod' | 'connect'>
  readonly nodeName: string
  readonly clock: Clock
}

/**
 * The verb that each needs. A session can do more than read, and a client may open one with a GET: it needs the right
 * to create, as at the control plane.
 */
const verbs: Readonly<Record<string, string>> = Object.freeze({
  log: 'get',
  exec: 'create',
  attach: 'create',
  portforward: 'create',
})

/**
 * Serves logs, exec, attach and port-forward of this node's pods while the control plane is away, to users who were seen
 * to have the right. A session goes on when the control plane returns, and ends when it takes the right back.
 */
export class PodSessions {
  readonly #deps: PodSessionsDeps
  readonly #handlers: Readonly<Record<string, SubresourceHandler>>
  readonly #openOf = new Map<string, number>()
  #open = 0

  constructor(deps: PodSessionsDeps) {
    this.#deps = deps
    const { node, clock } = deps
    const dial = {
      dialNode: () => Promise.resolve(node.connect()),
      dialAddress: () =>
        Promise.reject(new TypeError('Cannot dial addresses: pods are reached by name')),
    }
    this.#handlers = {
      log: createLogHandler({ dial, clock }),
      exec: createPodStreamHandler({ dial, clock }, 'exec'),
      attach: createPodStreamHandler({ dial, clock }, 'attach'),
      portforward: createPodStreamHandler({ dial, clock }, 'portforward'),
    }
  }

  /** Finds a pod on this node, with its newest status. */
  findPod(namespace: string, name: string): Pod | undefined {
    return this.#deps.node.findPod(namespace, name)
  }

  serves({ resource: { group, resource }, subresource }: RequestInfo): boolean {
    return group === '' && resource === 'pods' && Object.hasOwn(verbs, subresource)
  }

  /** Throws StatusError for refusals. */
  async answer(asked: AwayRequest): Promise<ApiAnswer> {
    const { request } = asked
    const opened = this.#opened(asked)
    // The answer ends with the client, which may follow the log for any time.
    request.signal.addEventListener('abort', () => opened[Symbol.dispose](), { once: true })
    if (request.signal.aborted) opened[Symbol.dispose]()
    return await this.#deps.readPath.part(request, opened.caller, this.#part(asked.info))
  }

  /** Throws StatusError before it writes anything. */
  async upgrade(asked: AwayRequest, client: UpgradeSocket): Promise<void> {
    const { headers } = asked.request
    if ((headers['content-length'] ?? '0') !== '0' || headers['transfer-encoding'] !== undefined) {
      throw new StatusError('BadRequest', 'Cannot open a session: the request has a body')
    }
    using opened = this.#opened(asked)
    const { readPath } = this.#deps
    await readPath.upgrade(asked.request, opened.caller, this.#part(asked.info), client)
  }

  #part({ subresource }: RequestInfo) {
    const handler = this.#handlers[subresource]
    if (!handler) throw new TypeError(`Cannot serve pods/${subresource}: it has no handler`)
    const { node, nodeName } = this.#deps
    const itself = { ...nodeAtLoopback, metadata: { name: nodeName } }
    return {
      handler,
      find: ({ resource }: { readonly resource: string }, namespace: string, name: string) => {
        if (resource === 'nodes') return name === nodeName ? itself : undefined
        return resource === 'pods' ? node.findPod(namespace, name) : undefined
      },
    }
  }

  /** Admits and counts a caller, until it is disposed of. */
  #opened(asked: AwayRequest): Disposable & { readonly caller: PartCaller } {
    const { rights } = this.#deps
    const { info, user, request } = asked
    const { namespace, name, subresource } = info
    const right = {
      verb: verbs[subresource] ?? '',
      group: '',
      resource: 'pods',
      subresource,
      namespace,
      name,
      labelSelector: '',
      fieldSelector: '',
      path: '',
    }
    this.#mustBeHere(asked, rights.couldDo(user, right))
    const ended = new AbortController()
    const onEnd = (): void => {
      if (!rights.couldDo(user, right)) ended.abort(new Error('the user lost the right'))
    }
    const turn = this.#turn(user.name)
    const held = sufficientRights(right).map((each) => rights.whileAllowed(user, each, onEnd))
    const signal = AbortSignal.any([request.signal, ended.signal])
    // One right opens a session, whatever the method is.
    const requireVerb = (): Promise<void> => Promise.resolve()
    return {
      caller: { info, user, signal, requireVerb },
      [Symbol.dispose]() {
        turn[Symbol.dispose]()
        for (const each of held) each[Symbol.dispose]()
      },
    }
  }

  #mustBeHere({ info, user, refuse }: AwayRequest, isAllowed: boolean): void {
    if (!isAllowed) {
      const who = JSON.stringify(user.name)
      throw refuse(`${who} was not seen to have the right to ${askedText(info)} before`)
    }
    const { namespace, name } = info
    if (this.#deps.node.findPod(namespace, name)) return
    throw refuse(`pod ${namespace}/${name} is not on this node`)
  }

  /** Throws StatusError TooManyRequests. */
  #turn(user: string): Disposable {
    const count = this.#openOf.get(user) ?? 0
    if (this.#open >= sessionsMax || count >= sessionsPerUserMax) {
      const why = 'too many logs and sessions are open on this node'
      throw new StatusError('TooManyRequests', `Cannot open another: ${why}`, {
        details: { retryAfterSeconds: 10 },
      })
    }
    this.#open += 1
    this.#openOf.set(user, count + 1)
    let isOver = false
    return {
      [Symbol.dispose]: () => {
        if (isOver) return
        isOver = true
        this.#open -= 1
        const left = (this.#openOf.get(user) ?? 1) - 1
        if (left === 0) this.#openOf.delete(user)
        else this.#openOf.set(user, left)
      },
    }
  }
}

/** The handlers look up where the pod's node is. This one is reached without a network. */
const nodeAtLoopback = Object.freeze({
  apiVersion: 'v1',
  kind: 'Node',
  status: { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }] },
})
