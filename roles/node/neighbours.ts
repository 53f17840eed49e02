import { join } from 'node:path'
import { createWakeFlag, runAll } from '@skerry/base'
import { StatusError } from '@skerry/api'
import { readFileIfPresent, writeFileDurably, type NodeIdentity } from '@skerry/bootstrap'
import type { LeaseNotes, NeighbourAnswers } from '@skerry/kubelet'
import {
  answerText,
  createNeighbourAsker,
  Neighbours,
  neighboursOf,
  neighboursPath,
  peerNode,
  wordAnnotation,
  wordText,
  type Neighbour,
  type NeighbourAsker,
} from '@skerry/neighbours'
import type { NodeWatch } from '@skerry/service-proxy'
import type { RoleContext } from '../runtime/role-context.ts'
import { nodeBounds } from './limits-table.ts'

export interface NodeNeighboursOptions {
  readonly nodeName: string
  readonly dataDir: string
  /** The label whose value names the group of this node. */
  readonly label: string
}

/** A node's part in watching its group, as its other parts need it. */
export interface NodeNeighbours {
  readonly leaseNotes: LeaseNotes
  readonly answers: NeighbourAnswers
  readonly watch: NodeWatch
  run(signal: AbortSignal): Promise<void>
}

const { awayMs, saveMs, fileBytesMax } = nodeBounds.neighbours

/** The lease of a node that does not watch others: it takes away what an earlier start left there. */
export const noLeaseNotes: LeaseNotes = Object.freeze({
  annotations: () => ({ [wordAnnotation]: null }),
  onRenewed: () => {},
  onChange: () => ({ [Symbol.dispose]: () => {} }),
})

/** Watches the group of this node. Only while the control plane is away does its own finding decide about endpoints. */
export function createNodeNeighbours(
  { nodeName, dataDir, label }: NodeNeighboursOptions,
  { identity, clock, random, log }: RoleContext & { readonly identity: NodeIdentity },
): NodeNeighbours {
  const { authorityPem } = identity.info
  const onWord = createListeners()
  const onDead = createListeners()
  const asker = askerOf(identity)
  const neighbours = new Neighbours(nodeName, {
    clock,
    random,
    log,
    ask: asker.ask,
    onWord: onWord.call,
  })
  const file = new GroupFile(join(dataDir, 'neighbours.json'))
  let renewedMs = clock.monotonicMs()
  const present = (): ReadonlySet<string> =>
    clock.monotonicMs() - renewedMs > awayMs ? neighbours.dead : new Set()
  return {
    leaseNotes: {
      annotations() {
        const { word } = neighbours
        const isEmpty = word.seen.length === 0 && word.missed.length === 0
        return { [wordAnnotation]: isEmpty ? null : wordText(word) }
      },
      onRenewed() {
        renewedMs = clock.monotonicMs()
        onDead.call()
      },
      onChange: onWord.add,
    },
    answers: {
      path: neighboursPath,
      answerTo(caller) {
        const name = peerNode(caller, authorityPem)
        if (name === undefined) throw new StatusError('Unauthorized', 'Unauthorized')
        if (neighbours.isMember(name)) return answerText(neighbours.answer())
        const message = `Forbidden: node "${name}" is not of the same group by label ${label}`
        throw new StatusError('Forbidden', message)
      },
    },
    watch: {
      onNodes(nodes) {
        const group = neighboursOf(nodeName, label, nodes)
        if (file.set(group)) neighbours.setGroup(group)
      },
      onDead: (listener) => onDead.add(() => listener(present())),
    },
    async run(signal) {
      using _asker = asker
      using _rounds = neighbours.onRound(onDead.call)
      const saved = await file.load()
      if (saved) neighbours.setGroup(saved)
      log.info('Neighbours are watched', { label })
      await runAll(signal, [
        (scope) => neighbours.run(scope),
        async (scope) => {
          for (;;) {
            await file.saveNext(scope)
            await clock.sleep(saveMs, scope)
          }
        },
      ])
    },
  }
}

function askerOf({ client, info }: NodeIdentity): NeighbourAsker {
  return createNeighbourAsker({
    authorityPem: info.authorityPem,
    current: () => {
      const { certificatePem, privateKeyPem } = client.current
      return { cert: certificatePem, key: privateKeyPem }
    },
  })
}

interface Listeners {
  readonly add: (listener: () => void) => Disposable
  readonly call: () => void
}

function createListeners(): Listeners {
  const all = new Set<() => void>()
  return {
    add(listener) {
      all.add(listener)
      return { [Symbol.dispose]: () => void all.delete(listener) }
    },
    call() {
      for (const listener of all) listener()
    },
  }
}

/** Keeps the group on disk, for a start while the control plane is away. */
class GroupFile {
  readonly #path: string
  readonly #isChanged = createWakeFlag()
  #text: string | undefined

  constructor(path: string) {
    this.#path = path
  }

  /** Returns true if the group is another one. */
  set(group: readonly Neighbour[]): boolean {
    const text = JSON.stringify(group)
    if (text === this.#text) return false
    this.#text = text
    this.#isChanged.raise()
    return true
  }

  /** Returns undefined if the control plane was faster, or the file is missing or damaged. */
  async load(): Promise<readonly Neighbour[] | undefined> {
    const text = await readFileIfPresent(this.#path)
    if (text === undefined || this.#text !== undefined || text.length > fileBytesMax)
      return undefined
    try {
      const parsed: unknown = JSON.parse(text)
      return Array.isArray(parsed) && parsed.every(isNeighbour) ? parsed : undefined
    } catch (error) {
      if (error instanceof SyntaxError) return undefined
      throw error
    }
  }

  async saveNext(signal: AbortSignal): Promise<void> {
    await this.#isChanged.wait(signal)
    if (this.#text !== undefined) await writeFileDurably(this.#path, this.#text, 0o600)
  }
}

function isNeighbour(value: unknown): value is Neighbour {
  if (typeof value !== 'object' || value === null) return false
  const { name, address, port } = value as Partial<Record<keyof Neighbour, unknown>>
  return typeof name === 'string' && typeof address === 'string' && Number.isInteger(port)
}
