/** Brings pages of the web console into the states of an answer that is late, refused or broken. */
import type { Page, Route } from 'playwright-core'
import { hostileText } from './hostile-answers.ts'
import { makeHostile } from './hostile-page.ts'

export const pageStates = [
  'empty',
  'live',
  'forbidden',
  'loading',
  'error',
  'hostile',
  'hostile-error',
  'away',
] as const

export type PageState = (typeof pageStates)[number]

/** Requests for the contents of pages, in contrast to those for the session. */
const contents = /\/(hub\/v1\/(?!session)|apis\b|api\/|clusters\/|openapi)/
/** The console's own addresses are not the API's. */
const ownFiles = '/console/'
const requestId = 'a1b2c3d4-5e6f-4a7b-8c9d-0e1f2a3b4c5d'
const fault = {
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  message: 'Cannot read the store: the disk of the hub is full',
  reason: 'InternalError',
  code: 500,
}

/** `empty`, `live`, `forbidden` and `away` come from the hub itself. */
export async function prepareState(page: Page, state: PageState): Promise<void> {
  if (state === 'loading') {
    await page.routeWebSocket(/watches/, () => undefined)
    await page.route(contents, (route) => answerContents(route, () => undefined))
  }
  if (state === 'hostile') await makeHostile(page, contents)
  if (state === 'error' || state === 'hostile-error') {
    const message = state === 'error' ? fault.message : hostileText
    await page.routeWebSocket(/watches/, (socket) => {
      socket.onMessage((text) => {
        // The console's own frame.
        const { open } = JSON.parse(String(text)) as { open?: number }
        const { code, reason } = fault
        const error = { code, reason, message, requestId }
        if (open !== undefined) socket.send(JSON.stringify({ id: open, error }))
      })
    })
    const headers = { 'audit-id': requestId }
    const body = JSON.stringify({ ...fault, message })
    await page.route(contents, (route) =>
      answerContents(route, () =>
        route.fulfill({ status: 500, contentType: 'application/json', headers, body }),
      ),
    )
  }
}

async function answerContents(route: Route, answer: () => unknown): Promise<void> {
  if (new URL(route.request().url()).pathname.startsWith(ownFiles)) await route.continue()
  else await answer()
}
