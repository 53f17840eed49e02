/** How much of a table fits on the screen, as the viewer chose in this browser. */
import { useSyncExternalStore } from 'react'

export const densities = ['normal', 'dense'] as const

export type Density = (typeof densities)[number]

/** The height of a row in a table; the style sheet has the same numbers. */
export const rowHeights: Readonly<Record<Density, number>> = Object.freeze({
  normal: 32,
  dense: 26,
})

const storageKey = 'skerry-density'
const listeners = new Set<() => void>()

export function useDensity(): Density {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, storedDensity)
}

/** Any other text counts as `normal`. */
function storedDensity(): Density {
  return localStorage.getItem(storageKey) === 'dense' ? 'dense' : 'normal'
}

export function setDensity(density: Density): void {
  localStorage.setItem(storageKey, density)
  showDensity()
  for (const listener of listeners) listener()
}

export function showDensity(): void {
  document.documentElement.dataset.density = storedDensity()
}
