// The address of what is shown: what is written is read again.
import t from 'tap'
import { addressIn, hashOf, type Address } from '../../../page/review/address.ts'

const FIRST: Address = { show: 'pending', text: '', side: false, spaces: true, file: undefined, hunk: undefined }

const check = (address: Partial<Address>, hash: string) => {
  const whole = { ...FIRST, ...address }
  t.equal(hashOf(whole), hash)
  t.strictSame(addressIn(`#${hash}`), whole)
}

check({}, '')
check({ show: 'undone', text: 'a b&c', side: true, spaces: false }, 'show=undone&filter=a+b%26c&side=on&spaces=off')
const file = { path: 'src/ä #1.ts', view: 'file' as const, at: '01K', row: '["ann","s1"]' }
check(
  { file, hunk: 'hunk-01K.0' },
  'file=src%2F%C3%A4+%231.ts&view=file&at=01K&group=%5B%22ann%22%2C%22s1%22%5D&hunk=hunk-01K.0'
)
check({ file: { path: 'a', view: 'pending', at: undefined, row: undefined } }, 'file=a')
t.strictSame(addressIn('#show=x&view=y&side=z&%E0%A4%A&token'), FIRST, 'what is not known is as at first')
t.match(addressIn('#file=a&view=y'), { file: { path: 'a', view: 'pending' } })
t.equal(hashOf({ ...FIRST, hunk: 'h' }), '', 'without a file there is no hunk')
