import { withTimeout, type Clock, type Logger, type Random } from '@skerry/base'
import type { Neighbour } from './group.ts'
import { neighbourBounds } from './limits-table.ts'
import { createRing, type Ring } from './ring.ts'
import { Sightings } from './sightings.ts'
import { deadAmong } from './verdict.ts'
import { wordText, type Answer, type Word } from './word.ts'

export interface NeighboursDeps {
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep' | 'setTimer'>
  readonly random: Pick<Random, 'next'>
  readonly log: Logger
  /**
   * Asks a neighbour for its word. Resolves to undefined if it answers as itself, but has no word. Rejects if it does not
   * answer, or another node does.
   */
  readonly ask: (neighbour: Neighbour, signal: AbortSignal) => Promise<Answer | undefined>
  /** Called when this node's word is another one. */
  onWord?(): void
}

interface Heard {
  readonly word: Word
  readonly atMs: number
}

const { periodMs, jitterShare, answerMs, wordMs, doubtedMax, namedMax } = neighbourBounds.neighbours

/**
 * One node's part in watching its group: it asks its neighbours, remembers their words, and finds out which nodes the
 * voters agree are dead. It takes a word only from the node whose word it is, and knows no wall clock.
 */
export class Neighbours {
  readonly #nodeName: string
  readonly #deps: NeighboursDeps
  readonly #sightings = new Sightings()
  readonly #heard = new Map<string, Heard>()
  readonly #listeners = new Set<() => void>()
  #group: ReadonlyMap<string, Neighbour> = new Map()
  #ring: Ring = createRing([])
  /** Nodes that answers called doubtful, and whose voters are to be asked. */
  #hints = new Set<string>()
  #dead: ReadonlySet<string> = new Set()
  #wordText = wordText({ seen: [], missed: [] })

  constructor(nodeName: string, deps: NeighboursDeps) {
    this.#nodeName = nodeName
    this.#deps = deps
  }

  /** Sets the group, with or without this node itself. */
  setGroup(group: readonly Neighbour[]): void {
    const others = group.filter(({ name }) => name !== this.#nodeName)
    this.#group = new Map(others.map((each) => [each.name, each]))
    this.#ring = createRing(others.length === 0 ? [] : [this.#nodeName, ...this.#group.keys()])
    this.#sightings.keepOnly(this.#ring.askedBy(this.#nodeName))
    for (const name of this.#heard.keys()) if (!this.#group.has(name)) this.#heard.delete(name)
  }

  isMember(name: string): boolean {
    return this.#group.has(name)
  }

  get word(): Word {
    return this.#sightings.word
  }

  /** Returns what this node tells a neighbour. */
  answer(): Answer {
    return { word: this.word, doubted: this.#doubted().slice(0, namedMax) }
  }

  /** Returns the nodes that are dead for this node's own traffic. */
  get dead(): ReadonlySet<string> {
    return this.#dead
  }

  /** Calls back after each round. */
  onRound(listener: () => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#deps
    for (;;) {
      const startMs = clock.monotonicMs()
      await this.#round(signal)
      const lengthMs = periodMs * (1 + jitterShare * (2 * random.next() - 1))
      await clock.sleep(Math.max(0, startMs + lengthMs - clock.monotonicMs()), signal)
    }
  }

  async #round(signal: AbortSignal): Promise<void> {
    const asked = this.#ring.askedBy(this.#nodeName)
    const further = new Set([...this.#someMember(asked), ...this.#votersToAsk()])
    for (const name of [this.#nodeName, ...asked]) further.delete(name)
    this.#hints = new Set()
    await Promise.all([
      ...asked.map((name) => this.#look(name, signal)),
      ...[...further].map((name) => this.#hear(name, signal)),
    ])
    this.#forgetOldWords()
    this.#judge()
    const text = wordText(this.word)
    if (text !== this.#wordText) this.#deps.onWord?.()
    this.#wordText = text
    for (const listener of this.#listeners) listener()
  }

  /** In a large group, doubts spread by one further node that is asked in each round. */
  #someMember(asked: readonly string[]): string[] {
    const names = [...this.#group.keys()]
    if (names.length <= asked.length) return []
    const name = names[Math.floor(this.#deps.random.next() * names.length)]
    return name === undefined ? [] : [name]
  }

  #votersToAsk(): string[] {
    const doubted = new Set([...this.#hints, ...this.#dead, ...this.#doubted()])
    const all = [...doubted]
    // Another part of a long list comes first in each round.
    const from = Math.floor(this.#deps.random.next() * all.length)
    const turned = [...all.slice(from), ...all.slice(0, from)].slice(0, doubtedMax)
    return turned.flatMap((name) => this.#ring.votersOn(name))
  }

  async #look(name: string, signal: AbortSignal): Promise<void> {
    const isThere = await this.#hear(name, signal)
    if (isThere) this.#sightings.onAnswer(name)
    else this.#sightings.onFailure(name)
  }

  /** Returns true if the node answers. */
  async #hear(name: string, signal: AbortSignal): Promise<boolean> {
    const neighbour = this.#group.get(name)
    if (neighbour === undefined) return false
    const { clock, ask } = this.#deps
    const message = `Cannot hear neighbour "${name}": no answer within ${answerMs} ms`
    try {
      const answer = await withTimeout({ ms: answerMs, message, clock }, signal, (scope) =>
        ask(neighbour, scope),
      )
      this.#remember(name, answer)
      return true
    } catch (error) {
      signal.throwIfAborted()
      this.#deps.log.debug('Neighbour does not answer', { node: name, error: String(error) })
      return false
    }
  }

  #remember(name: string, answer: Answer | undefined): void {
    if (answer === undefined || !this.#group.has(name)) return
    this.#heard.set(name, { word: answer.word, atMs: this.#deps.clock.monotonicMs() })
    for (const doubted of answer.doubted.slice(0, namedMax)) {
      if (this.#group.has(doubted) && this.#hints.size < namedMax) this.#hints.add(doubted)
    }
  }

  #forgetOldWords(): void {
    const oldMs = this.#deps.clock.monotonicMs() - wordMs
    for (const [name, { atMs }] of this.#heard) if (atMs < oldMs) this.#heard.delete(name)
  }

  #wordOf(name: string): Word | undefined {
    return name === this.#nodeName ? this.word : this.#heard.get(name)?.word
  }

  /** Returns the nodes that a voter misses, as that voter has told this node itself. */
  #doubted(): string[] {
    const names = new Set(this.word.missed)
    for (const [voter, { word }] of this.#heard) {
      for (const name of word.missed) {
        if (!names.has(name) && this.#ring.votersOn(name).includes(voter)) names.add(name)
      }
    }
    names.delete(this.#nodeName)
    return [...names].filter((name) => this.#group.has(name))
  }

  #judge(): void {
    const { seen, missed } = this.word
    const names = new Set([...this.#doubted(), ...this.#dead].filter((name) => this.isMember(name)))
    const verdicts = deadAmong([...names], this.#dead, (name, isDead) => ({
      voters: this.#ring.votersOn(name),
      wordOf: (voter) => this.#wordOf(voter),
      isDead,
    }))
    const dead = [...names].filter((name) => {
      // This node's traffic goes where it sees an answer, whatever others say.
      if (seen.includes(name)) return false
      if (verdicts.get(name)?.kind === 'dead') return true
      return missed.includes(name) && this.#isOnlyVoter(name, verdicts)
    })
    this.#dead = new Set(dead)
  }

  /** With nobody left to ask, this node's own sight decides about its own traffic. */
  #isOnlyVoter(name: string, verdicts: ReadonlyMap<string, { readonly kind: string }>): boolean {
    return this.#ring
      .votersOn(name)
      .every((voter) => voter === this.#nodeName || verdicts.get(voter)?.kind === 'dead')
  }
}
