import { AcknowledgedWrites, type KeyWrite } from './acknowledged-writes.ts'
import { digestOf, plannedWrites, writersCount } from './planned-writes.ts'
import { writerCommand } from './program-files.ts'
import type { Life, LifePlan, Subject, SubjectDeps, SubjectKind } from './subject.ts'

export const storeKind: SubjectKind = {
  title: 'the store of a site, SQLite',
  ports: [],
  memoryMegabytes: 512,
  held: `${writerCommand} /var/lib/skerry/store/store.db`,
  writesMax: 400,
  lifeMsMax: 30_000,
  open: async (deps) => new StoreSubject(deps),
}

/** The store in a process of its own; that process and this one know the same plan of writes. */
class StoreSubject implements Subject {
  readonly #writes = new AcknowledgedWrites()
  readonly #deps: SubjectDeps

  constructor(deps: SubjectDeps) {
    this.#deps = deps
  }

  get acknowledged(): number {
    return this.#writes.count
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async live({ seed, boot }: LifePlan): Promise<Life> {
    const opened = Promise.withResolvers<Omit<Life, 'parts'>>()
    const found = new Map<string, string>()
    const plans = Array.from({ length: writersCount }, (_, writer) =>
      plannedWrites({ seed, boot, writer }),
    )
    const current: (readonly KeyWrite[])[] = []
    const begin = (writer: number): void => {
      const write = (plans[writer]?.next().value ?? []).map(digested)
      current[writer] = write
      this.#writes.begin(write)
    }
    const onLine = (line: string): void => {
      const [word, first = '', second = ''] = line.split(' ')
      if (word === 'has') found.set(first, second)
      if (word === 'acknowledged') {
        this.#writes.acknowledge(current[Number(first)] ?? [], Number(second))
        begin(Number(first))
      }
      if (word === 'revision') {
        const problems = this.#writes.check(found, Number(first))
        for (let writer = 0; writer < writersCount; writer += 1) begin(writer)
        opened.resolve({ problems, notes: `opened in ${second} ms, ${found.size} keys` })
      }
    }
    const running = this.#deps.machine.release(`${seed} ${boot}`, { onLine, timeoutMs: 3_600_000 })
    const ended = running.then((text) => {
      throw new Error(`The writer ended: ${text.slice(-500)}`)
    })
    // A fault before the store is open is the answer to the start.
    ended.catch((error: unknown) => opened.reject(error))
    return { ...(await opened.promise), parts: [ended] }
  }
}

function digested({ key, content }: KeyWrite): KeyWrite {
  return { key, ...(content === undefined ? {} : { content: digestOf(content) }) }
}
