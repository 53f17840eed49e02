import { useEffect, useRef } from 'react'
import { Icon } from './icon.tsx'

interface SearchFieldProps {
  readonly value: string
  readonly label: string
  readonly onChange: (value: string) => void
}

/** The key `/` leads here from anywhere on the page. */
export function SearchField({ value, label, onChange }: SearchFieldProps) {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isTyping =
        event.target instanceof HTMLElement &&
        event.target.closest('input, textarea, select, .terminal, .cm-editor')
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return
      event.preventDefault()
      input.current?.focus()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  return (
    <label className="search">
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        value={value}
        aria-label={label}
        placeholder={`${label}  /`}
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  )
}
