/** An editor for YAML that knows the fields of the cluster's server. It is loaded when somebody edits: it is large. */
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search'
import { EditorView, highlightActiveLine, keymap } from '@codemirror/view'
import { useTexts } from '../words/language.ts'
import { yamlTexts } from './yaml-texts.ts'
import { yamlView } from './yaml-view.ts'

const SchemaNotes = lazy(async () => ({
  default: (await import('./schema-notes.tsx')).SchemaNotes,
}))

interface YamlEditorProps {
  readonly label: string
  readonly text: string
  /** The cluster whose server knows the object's fields. Undefined for the hub's own. */
  readonly cluster: string | undefined
  readonly onChange: (text: string) => void
}

export function YamlEditor({ label, text, cluster, onChange }: YamlEditorProps) {
  const texts = useTexts(yamlTexts)
  const room = useRef<HTMLDivElement>(null)
  const [view, setView] = useState<EditorView>()
  const first = useRef(text)
  const changed = useRef(onChange)
  changed.current = onChange
  useEffect(() => {
    const parent = room.current
    if (parent === null) return
    const onUpdate = EditorView.updateListener.of((update) => {
      if (update.docChanged) changed.current(update.state.doc.toString())
    })
    const editing = [
      history(),
      keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, indentWithTab]),
      highlightActiveLine(),
      highlightSelectionMatches(),
      onUpdate,
      EditorView.contentAttributes.of({
        'aria-label': label,
        'aria-describedby': 'editor-keys',
        tabindex: '0',
      }),
    ]
    const made = yamlView(parent, first.current, editing)
    setView(made)
    made.focus()
    return () => made.destroy()
  }, [label])
  return (
    <>
      <div className="editor" ref={room} />
      <p id="editor-keys" className="muted">
        {texts.leaveEditor}
      </p>
      <Suspense>
        {view === undefined ? undefined : <SchemaNotes view={view} text={text} cluster={cluster} />}
      </Suspense>
    </>
  )
}
