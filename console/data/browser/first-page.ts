/** The page with which the console begins, as the viewer chose in this browser. */

const storageKey = 'skerry-first-page'

/** The pages that may be the first one, by their paths. */
export const firstPages = ['/', '/clusters', '/edge-clusters', '/applications'] as const

export type FirstPage = (typeof firstPages)[number]

/** Any other text counts as the fleet. */
export function firstPage(): FirstPage {
  const stored = localStorage.getItem(storageKey)
  return firstPages.find((page) => page === stored) ?? '/'
}

export function setFirstPage(page: FirstPage): void {
  localStorage.setItem(storageKey, page)
}

/** Returns the address to go to from one without a page; undefined if the address names a page. */
export function beginningOf(url: string, page: FirstPage): string | undefined {
  const { pathname, search } = new URL(url)
  const isBare = /^\/console\/?$/.test(pathname) && search === ''
  return isBare && page !== '/' ? `/console${page}` : undefined
}
