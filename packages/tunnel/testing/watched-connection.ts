/**
 * Holds a connection to the address and port in its arguments, which ends with this machine's address.
 * Commands are lines: `down` and `up` wait until the kernel has no usable address, or one again; `look` waits
 * two seconds and reports the state of the connection; any other line is sent to the peer, and its answer is
 * printed.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { createInterface } from 'node:readline'
import { simulatedClock } from '@skerry/base'
import { until } from '@skerry/testing'
import { addressTowards } from '../agent/address-towards.ts'
import { endWithAddress } from '../agent/lost-address.ts'

const [host = '', port = ''] = process.argv.slice(2)
const clock = simulatedClock()
const socket = connect(Number(port), host)
await once(socket, 'connect')
const own = socket.localAddress
let state = 'open'
socket.on('error', ({ message }) => (state = message))
socket.on('data', (answer: Buffer) => process.stdout.write(answer))
let asked: Promise<unknown> = Promise.resolve()
const towards = (peer: string): Promise<string | undefined> => {
  const answer = addressTowards(peer)
  asked = answer
  return answer
}
endWithAddress(socket, { clock, towards })
const isUp = (): boolean =>
  Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => address === own))
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const tell = (line: string): void => void process.stdout.write(`${line}\n`)

tell('open')
for await (const line of createInterface(process.stdin)) {
  if (line === 'down' || line === 'up') {
    await until(() => isUp() === (line === 'up'))
    tell(line)
  } else if (line === 'look') {
    await clock.advance(2_000)
    await asked
    await turn()
    tell(state)
  } else {
    socket.write(`${line}\n`)
  }
}
socket.destroy()
