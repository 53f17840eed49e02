/**
 * The program in a pod of a policy scene. It answers with its name on its ports, and calls others on
 * order, by lines of JSON on its standard input and output. It ends when its input does.
 */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
// The package's door would load much more into each pod.
import { until } from '../../../testing/until.ts'

export type Protocol = 'tcp' | 'udp'

export type PodOrder =
  | { id: number; act: 'serve'; name: string; ports: number[] }
  | { id: number; act: 'call'; protocol: Protocol; address: string; port: number; withinMs: number }
  /** Opens a connection that stays; `say` uses the one that was opened by that order. */
  | { id: number; act: 'open'; address: string; port: number; withinMs: number }
  | { id: number; act: 'say'; opened: number; withinMs: number }

export interface PodAnswer {
  id: number
  /** The name of the answering pod. It is empty if none answered in time. */
  heard: string
}

const opened = new Map<number, Socket>()

const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => {
  // The scene sends orders of this type.
  const order = JSON.parse(line) as PodOrder
  void obey(order).then((heard) => {
    const answer: PodAnswer = { id: order.id, heard }
    process.stdout.write(`${JSON.stringify(answer)}\n`)
  })
})
lines.on('close', () => process.exit())

async function obey(order: PodOrder): Promise<string> {
  switch (order.act) {
    case 'serve':
      await Promise.all(
        order.ports.flatMap((port) => [serveTcp(order, port), serveUdp(order, port)]),
      )
      return order.name
    case 'call':
      return order.protocol === 'udp' ? callByUdp(order) : callByTcp(order)
    case 'open': {
      const socket = connect(order.port, order.address)
      opened.set(order.id, socket)
      return heardOn(socket, order.withinMs)
    }
    case 'say': {
      const socket = opened.get(order.opened)
      if (!socket) return ''
      socket.write('?')
      return heardOn(socket, order.withinMs)
    }
  }
}

interface Place {
  address: string
  port: number
  withinMs: number
}

function serveTcp({ name }: { name: string }, port: number): Promise<void> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.on('data', () => socket.write(name))
    socket.write(name)
  })
  return new Promise((resolve) => server.listen(port, '0.0.0.0', resolve))
}

function serveUdp({ name }: { name: string }, port: number): Promise<void> {
  const socket = createSocket('udp4')
  // The sender may be gone, which the kernel reports at the next send.
  socket.on('error', () => undefined)
  socket.on('message', (_asked, from) => socket.send(name, from.port, from.address))
  return new Promise((resolve) => socket.bind(port, '0.0.0.0', resolve))
}

async function callByTcp({ address, port, withinMs }: Place): Promise<string> {
  const socket = connect(port, address)
  const heard = await heardOn(socket, withinMs)
  socket.destroy()
  return heard
}

async function heardOn(socket: Socket, withinMs: number): Promise<string> {
  let heard: string | undefined
  socket.once('data', (data) => (heard ??= String(data)))
  socket.once('error', () => (heard ??= ''))
  socket.once('close', () => (heard ??= ''))
  await until(() => heard !== undefined, AbortSignal.timeout(withinMs)).catch(() => undefined)
  return heard ?? ''
}

async function callByUdp({ address, port, withinMs }: Place): Promise<string> {
  const socket = createSocket('udp4')
  let heard: string | undefined
  socket.on('message', (data) => (heard ??= String(data)))
  socket.on('error', () => (heard ??= ''))
  socket.connect(port, address)
  await once(socket, 'connect').catch(() => undefined)
  // A datagram may be lost: it is sent again until something is heard.
  const ask = (): boolean => {
    if (heard === undefined) socket.send('?')
    return heard !== undefined
  }
  await until(ask, AbortSignal.timeout(withinMs)).catch(() => undefined)
  socket.close()
  return heard ?? ''
}
