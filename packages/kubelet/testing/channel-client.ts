import { once } from 'node:events'
import { createServer } from 'node:http'
import { systemClock } from '@skerry/base'
import { WebSocket } from 'ws'
import { joinSession } from '../server/stream-session.ts'

/** Returns the text that a client of v5 channels reads on each channel when it sends `input` and then ends it. */
export async function overChannels(
  session: Parameters<typeof joinSession>[1],
  input: string,
): Promise<Record<number, string>> {
  const server = createServer()
  const joined = Promise.withResolvers<void>()
  server.on('upgrade', (request, socket, head) => {
    joinSession({ request, socket, head }, session, { clock: systemClock }).then(
      joined.resolve,
      joined.reject,
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const client = new WebSocket(`ws://127.0.0.1:${port}`, 'v5.channel.k8s.io')
  const said: Record<number, string> = {}
  client.on('message', (message: Buffer) => {
    const channel = message[0] ?? 0
    said[channel] = (said[channel] ?? '') + message.subarray(1).toString()
  })
  await once(client, 'open')
  for (let at = 0; at < input.length; at += 32_768) {
    client.send(Buffer.concat([Buffer.of(0), Buffer.from(input.slice(at, at + 32_768))]))
  }
  client.send(Buffer.of(255, 0))
  await Promise.all([once(client, 'close'), joined.promise])
  server.close()
  return said
}
