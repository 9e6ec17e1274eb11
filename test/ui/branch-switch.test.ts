import { fireEvent, screen } from '@testing-library/svelte'
import { beforeEach, expect, it } from 'vitest'
import { addEntry, emptyTree } from '../../src/shared/tree'
import BranchSwitch from '../../src/renderer/src/views/message/BranchSwitch.svelte'
import { answer, completeJsdom, draw, entry, user } from './support'

beforeEach(completeJsdom)

const tree = [
  entry(user('first'), null, 'u1'),
  entry(answer('to first'), 'u1', 'a1'),
  entry(user('second'), null, 'u2'),
  entry(answer('to second'), 'u2', 'a2'),
  entry(user('third'), null, 'u3')
].reduce(addEntry, emptyTree())
const show = (id: string) => draw(BranchSwitch, { tree, id, sessionId: 's1' })

it('counts the versions and goes to the newest end below the chosen one', async () => {
  const { calls } = show('u2')
  expect(screen.getByTestId('branch-switch').textContent.trim()).toBe('2/3')
  await fireEvent.click(screen.getByRole('button', { name: 'Previous version' }))
  await fireEvent.click(screen.getByRole('button', { name: 'Next version' }))
  expect(calls).toEqual([
    ['run.goTo', { sessionId: 's1', entryId: 'u1', leaf: true }],
    ['run.goTo', { sessionId: 's1', entryId: 'u3', leaf: true }]
  ])
})

it('stops at both ends', () => {
  show('u1')
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Previous version' }).disabled).toBe(true)
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Next version' }).disabled).toBe(false)
})

it('is not there for a message without other versions', () => {
  show('a1')
  expect(screen.queryByTestId('branch-switch')).toBeNull()
})
