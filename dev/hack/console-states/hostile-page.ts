/** Puts hostile answers between a hub that runs and a page of its console, and looks for what came of them. */
import type { Page, Route } from 'playwright-core'
import { hostile, hostileFrame, hostileLog, markup } from './hostile-answers.ts'
import { inventedAnswers } from './invented-objects.ts'

export async function makeHostile(page: Page, contents: RegExp): Promise<void> {
  await page.routeWebSocket(/watches/, (socket) => {
    const server = socket.connectToServer()
    const paths = new Map<number, string>()
    socket.onMessage((text) => {
      // The console's own frames.
      const { open, path = '' } = JSON.parse(String(text)) as { open?: number; path?: string }
      if (open !== undefined) paths.set(open, path)
      server.send(text)
    })
    server.onMessage((text) => {
      // The hub's own frames.
      const frame = JSON.parse(String(text)) as { id?: number }
      socket.send(JSON.stringify(hostileFrame(frame, paths.get(frame.id ?? 0) ?? '')))
    })
  })
  await page.routeWebSocket(/\/exec/, (socket) => {
    // The first byte says that this is output.
    socket.send(Buffer.concat([Buffer.of(1), Buffer.from(hostileLog)]))
  })
  await page.route(contents, answerHostile)
}

async function answerHostile(route: Route): Promise<void> {
  const request = route.request()
  const { pathname } = new URL(request.url())
  if (request.method() !== 'GET' || pathname.startsWith('/console/')) return await route.continue()
  if (pathname.endsWith('/log')) {
    return await route.fulfill({ contentType: 'text/plain', body: hostileLog })
  }
  const invented = inventedAnswers[pathname]
  if (invented !== undefined) return await route.fulfill({ json: hostile(invented) })
  const response = await route.fetch()
  const type = response.headers()['content-type'] ?? ''
  if (!type.includes('json')) return await route.fulfill({ response })
  const text = await response.text()
  const hostileLine = (line: string): string => JSON.stringify(hostile(JSON.parse(line)))
  const body = type.includes('ndjson') ? text.replaceAll(/^.+$/gm, hostileLine) : hostileLine(text)
  await route.fulfill({ response, body })
}

/** Runs in each page before its own scripts. */
export const reportViolations = `document.addEventListener('securitypolicyviolation', (event) => {
  console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI)
})`

/** Returns what came of hostile texts in a page, other than texts. */
export async function traces(page: Page): Promise<string[]> {
  return await page.evaluate<string[]>(`[
    ...(window.isHit === undefined ? [] : ['a script ran']),
    ...[...document.querySelectorAll('img, iframe, object, embed, body script')]
      .filter((found) => !found.src.startsWith(location.origin + '/console/'))
      .map((found) => 'an element was made: ' + found.outerHTML.slice(0, 100)),
    ...[...document.querySelectorAll('a[href], [action], [src]')]
      .map((found) => found.href ?? found.action ?? found.src)
      .filter((address) => !String(address).startsWith(location.origin) && !String(address).startsWith('blob:'))
      .map((address) => 'an address leads elsewhere: ' + String(address).slice(0, 100)),
    ...(/[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.innerText)
      ? ['letters are turned around: ' + /.{0,60}[\\u202a-\\u202e\\u2066-\\u2069]/.exec(document.body.innerText)[0]]
      : []),
  ]`)
}

const odd = encodeURIComponent(markup)

/** Addresses that somebody could be sent, below /console. */
export const hostileAddresses: readonly string[] = Object.freeze([
  `/${odd}`,
  '/clusters/100%25/nodes',
  `/clusters/${odd}`,
  `/clusters/${odd}/nodes`,
  `/clusters?q=${odd}&state=${odd}&label=${odd}&sort=${odd}&order=${odd}&row=${odd}`,
  `/?group=label:${odd}&q=${odd}&view=${odd}`,
  `/search?q=${odd}&kind=${odd}`,
  `/events?cluster=${odd}&q=${odd}`,
  `/clusters/branch-7/workloads?kind=${odd}&namespace=${odd}`,
  `/clusters/branch-7/virtual?label=${odd}`,
  `/clusters/branch-7/places/${odd}/${odd}/${odd}/differences?place=${odd}`,
  `/edge-clusters/${odd}/${odd}?step=${odd}`,
  `/edge-clusters/shop/branch-7?step=${odd}`,
  `/jobs/${odd}/${odd}`,
  `/applications/${odd}/${odd}/difference?cluster=${odd}`,
  `/policies/${odd}/${odd}/${odd}`,
  `/access/who-can?cluster=${odd}&verb=${odd}&resource=${odd}&namespace=${odd}`,
  `/access/kubeconfig?cluster=${odd}`,
  `/audit?user=${odd}&cluster=${odd}&verb=${odd}&since=${odd}&until=${odd}`,
  `/objects/${odd}/${odd}/${odd}/${odd}/${odd}/${odd}`,
  `/objects/branch-7/core/v1/pods/default/till/logs?container=${odd}&q=${odd}&run=${odd}`,
  `/objects/branch-7/core/v1/pods/default/${'x'.repeat(2_000)}`,
  `/login?problem=issuer&return=${encodeURIComponent('javascript:alert(1)')}`,
])
