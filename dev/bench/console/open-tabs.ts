/** Tabs without a browser: sockets that watch what the overview watches, take everything, and read nothing of it. */
import { once } from 'node:events'
import { systemClock } from '@skerry/base'
import { loadKubeconfig } from '@skerry/client'
import { WebSocket } from 'ws'
import {
  openTestBrowser,
  type TabFrame,
  type TestBrowser,
} from '../../../testing/scenes/test-browser.ts'
import type { Order } from './orders.ts'

type TabsOrder = Extract<Order, { do: 'tabs' }>

/** The fleet, the places of the map, and the agents that wait. */
const watchedPaths = [
  '/hub/v1/fleet',
  '/api/v1/namespaces/kube-public/configmaps?fieldSelector=metadata.name%3Dfleet-places',
  '/apis/certificates.k8s.io/v1/certificatesigningrequests',
]
/** Some frames need no credit, so that a tab never runs out of it. */
const creditsEach = 16

const sessions = new Map<string, Promise<TestBrowser>>()
const tabs: WebSocket[] = []
let bytes = 0

/** Counts what came for all tabs, before its compression. */
export function tabBytes(): number {
  return bytes
}

export async function openTabs({ at, server, tokens, count }: TabsOrder): Promise<number> {
  const { transport } = await loadKubeconfig(at, {}, { clock: systemClock, environment: {} })
  const hub = { url: server, caPem: String(transport.certificateAuthority) }
  for (const tab of tabs.splice(count)) {
    const closed = once(tab, 'close')
    tab.close()
    await closed
  }
  while (tabs.length < count) {
    const token = tokens[tabs.length % tokens.length] ?? ''
    const session = sessions.get(token) ?? logIn(hub, token)
    sessions.set(token, session)
    tabs.push(await openTab(hub, await session))
  }
  return tabs.length
}

type Hub = Parameters<typeof openTestBrowser>[0]

async function logIn(hub: Hub, token: string): Promise<TestBrowser> {
  const browser = openTestBrowser(hub)
  const ask = { method: 'POST', path: '/hub/v1/session', json: { token } }
  const { status, text } = await browser.ask(ask)
  if (status !== 201) throw new Error(`POST ${ask.path}: status ${status}: ${text}`)
  return browser
}

async function openTab({ url, caPem }: Hub, { cookies }: TestBrowser): Promise<WebSocket> {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const address = `${url.replace('https:', 'wss:')}/hub/v1/watches`
  const headers = { origin: url, cookie }
  const tab = new WebSocket(address, 'skerry.watches.v1', { ca: caPem, headers })
  await once(tab, 'open')
  const snapshots = Promise.withResolvers<void>()
  const due = new Set(watchedPaths.keys())
  let frames = 0
  tab.on('message', (data: Buffer) => {
    bytes += data.length
    frames += 1
    if (due.size > 0) {
      // The hub's own frames.
      const { id = -1, last, error } = JSON.parse(data.toString()) as TabFrame
      if (error !== undefined) snapshots.reject(new Error(`Cannot measure: ${error.message}`))
      if (last === true) due.delete(id)
      if (due.size === 0) snapshots.resolve()
    }
    if (frames % creditsEach !== 0) return
    for (const more of watchedPaths.keys()) {
      tab.send(JSON.stringify({ more, credits: creditsEach }))
    }
  })
  tab.once('close', () => snapshots.reject(new Error('Cannot measure: the hub closed a tab')))
  for (const [open, path] of watchedPaths.entries()) tab.send(JSON.stringify({ open, path }))
  await snapshots.promise
  return tab
}
