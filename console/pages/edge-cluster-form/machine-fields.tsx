import { Icon } from '../../parts/icon.tsx'
import { useTexts } from '../../words/language.ts'
import type { FieldsProps } from './cluster-fields.tsx'
import { emptyMachine, type MachineForm } from './cluster-form.ts'
import { MachineBlock } from './machine-block.tsx'
import { texts as both } from './texts.ts'

/** The machines, in blocks that have everything but their addresses in common. */
export function MachineFields({ form, faults, set }: FieldsProps) {
  const texts = useTexts(both)
  const { machines } = form
  const fault = faults.get('machines')
  const change = (id: number, next: Partial<MachineForm>): void =>
    set({ machines: machines.map((each) => (each.id === id ? { ...each, ...next } : each)) })
  const nextId = Math.max(0, ...machines.map(({ id }) => id)) + 1
  return (
    <fieldset className="panel">
      <legend>{texts.machines}</legend>
      {fault === undefined ? undefined : <p className="fault">✕ {fault}</p>}
      {machines.map((machine, index) => (
        <MachineBlock
          key={machine.id}
          title={texts.block(index + 1)}
          machine={machine}
          isFirst={index === 0}
          faultOf={(key) => faults.get(`machines.${index}.${key}`)}
          onChange={(next) => change(machine.id, next)}
          onRemove={
            machines.length === 1
              ? undefined
              : () => set({ machines: machines.filter(({ id }) => id !== machine.id) })
          }
        />
      ))}
      <div>
        <button
          type="button"
          className="button"
          onClick={() => {
            const block = { ...emptyMachine(nextId, 'Node'), sharesLogin: true }
            set({ machines: [...machines, block] })
          }}
        >
          <Icon name="add" />
          {texts.add}
        </button>
      </div>
    </fieldset>
  )
}
