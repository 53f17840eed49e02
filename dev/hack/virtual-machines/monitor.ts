import { once } from 'node:events'
import { createConnection } from 'node:net'
import { createInterface } from 'node:readline'
import { until } from '@skerry/testing'

/** A question to the emulator over its monitor protocol, QMP. */
interface Question {
  readonly execute: string
  readonly arguments?: object
}

interface Answer {
  readonly return?: unknown
  readonly error?: { readonly desc: string }
}

/** Writes the state of the running machine, memory and devices without disks, to a file and ends the emulator. */
export async function saveState(socketPath: string, file: string): Promise<void> {
  const socket = createConnection(socketPath)
  await once(socket, 'connect')
  const lines = createInterface(socket)[Symbol.asyncIterator]()
  const ask = async (question: Question): Promise<unknown> => {
    socket.write(`${JSON.stringify(question)}\n`)
    for (;;) {
      const { value, done } = await lines.next()
      if (done === true) throw new Error(`Cannot ask the emulator to ${question.execute}: it ended`)
      // QMP sends one object a line; greetings and events have neither field.
      const answer = JSON.parse(value) as Answer
      if (answer.error !== undefined) throw new Error(`${question.execute}: ${answer.error.desc}`)
      if (answer.return !== undefined) return answer.return
    }
  }
  await ask({ execute: 'qmp_capabilities' })
  await ask({ execute: 'migrate-set-parameters', arguments: { 'max-bandwidth': 4e9 } })
  await ask({ execute: 'migrate', arguments: { uri: `exec:cat > ${file}` } })
  await until(async () => {
    const { status } = (await ask({ execute: 'query-migrate' })) as { status?: string }
    if (status === 'failed') throw new Error('Cannot save the state of the machine')
    return status === 'completed'
  }, AbortSignal.timeout(600_000))
  await ask({ execute: 'quit' })
  socket.destroy()
}
