/** Dark or light, as the system says or as the viewer chose in this browser. */
import { useSyncExternalStore } from 'react'

export const themes = ['system', 'dark', 'light'] as const

export type Theme = (typeof themes)[number]

const storageKey = 'skerry-theme'
const listeners = new Set<() => void>()

export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, storedTheme)
}

/** Any other text counts as `system`. */
function storedTheme(): Theme {
  const stored = localStorage.getItem(storageKey)
  return themes.find((theme) => theme === stored) ?? 'system'
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(storageKey, theme)
  showTheme()
  for (const listener of listeners) listener()
}

/** The style sheet follows the system unless the document says otherwise. */
export function showTheme(): void {
  const theme = storedTheme()
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}
