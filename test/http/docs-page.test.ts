// /docs in a real browser: it loads, asks for the token, edits a file, tells a problem and takes its fix. And the
// requests that it offers.
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ADAPTER_EXAMPLES, REQUEST_EXAMPLES } from '../../src/http/request-examples.ts'
import { makeOperations } from '../../src/operations.ts'
import { launchFor, skip, watch, type Locator } from './browser.ts'
import { strippingProxy } from './stripping-proxy.ts'
import { bytesOf, startServer, TOKEN } from './test-server.ts'

const HELLO = "for (const name of process.argv.slice(2)) {\n  console.log('Hello, ' + name)\n}\n"

t.test('offers requests that work one after the other, and one that misses', async t => {
  const server = await startServer(t)
  const operations = makeOperations(server.workspace, { max_edits: 1, max_file_size: 1 })
  for (const name of ['create', 'inspect', 'edit', 'edit_lines', 'edit_section', 'preview'] as const) {
    for (const [key, { summary, value }] of Object.entries(REQUEST_EXAMPLES[name])) {
      const { status, text } = await server.call('POST', operations[name].route, { body: value })
      t.equal(status, key === 'miss' ? 422 : 200, `${name}, ${summary}: ${text.slice(0, 300)}`)
    }
  }
  for (const [route, examples] of Object.entries(ADAPTER_EXAMPLES)) {
    for (const [key, { summary, value }] of Object.entries(examples)) {
      const { status, text } = await server.call('POST', route, { body: value })
      t.equal(status, key === 'miss' ? 422 : 200, `${route}, ${summary}: ${text.slice(0, 300)}`)
    }
  }
  const { apply_patch: _, ...routed } = operations
  t.same(Object.keys(REQUEST_EXAMPLES).sort(), Object.keys(routed).sort(), 'every operation has some')
})

t.test('offers first what works in an empty workspace, where no file is needed', async t => {
  const server = await startServer(t)
  const operations = makeOperations(server.workspace, { max_edits: 1, max_file_size: 1 })
  for (const name of ['inspect', 'preview', 'create'] as const) {
    const [first] = Object.values(REQUEST_EXAMPLES[name])
    const { status, text } = await server.call('POST', operations[name].route, { body: first?.value })
    t.equal(status, 200, `${name}: ${text.slice(0, 300)}`)
  }
})

t.test('offers edits that work right after the example of /create of the same path', async t => {
  for (const name of ['edit', 'edit_lines', 'edit_section'] as const) {
    for (const [key, { summary, value }] of Object.entries(REQUEST_EXAMPLES[name])) {
      const file = Object.values(REQUEST_EXAMPLES.create).find(({ value: { path } }) => path === value.path)
      await t.test(summary, async t => {
        const server = await startServer(t)
        const operations = makeOperations(server.workspace, { max_edits: 1, max_file_size: 1 })
        t.equal((await server.call('POST', '/create', { body: file?.value })).status, 200)
        const { status, text } = await server.call('POST', operations[name].route, { body: value })
        t.equal(status, key === 'miss' ? 422 : 200, text.slice(0, 300))
      })
    }
  }
})

t.test('in a browser, below the path of a proxy that takes it off', { skip }, async t => {
  const server = await startServer(t)
  const url = await strippingProxy(t, server.url, '/tools/editd')
  const browser = await launchFor(t)
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
  const { errors, requests } = watch(page)
  await page.goto(`${url}/docs/`)
  const create = page.locator('#operations-files-create_file')
  await create.locator('.opblock-summary').click()
  await create.locator('.execute').click()
  await page.locator('.modal-ux input').fill(TOKEN)
  await page.locator('.modal-ux .authorize').click()
  await create.locator('.done', { hasText: 'examples/hello.js' }).waitFor()
  t.equal(bytesOf(server, 'examples/hello.js'), REQUEST_EXAMPLES.create.new_file!.value.content)
  t.strictSame(
    requests.map(request => request.url()).filter(asked => !asked.startsWith(`${url}/`)),
    []
  )
  t.strictSame(
    errors.filter(text => !/^Failed to load resource: .* status of 401/.test(text)),
    []
  )
})

t.test('in a browser', { skip }, async t => {
  const server = await startServer(t)
  const browser = await launchFor(t)
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
  const { errors, requests } = watch(page)
  const files = () => bytesOf(server, 'examples/hello.js')

  const edit = page.locator('#operations-files-edit_file')
  const token = page.locator('.modal-ux input')
  const give = async (value: string) => {
    await token.fill(value)
    await page.locator('.modal-ux .authorize').click()
  }
  const execute = () => edit.locator('.execute').click()
  const textOf = async (what: Locator) => (await what.innerText()).replace(/\s+/g, ' ')

  await t.test('loads without an error, all of it from here', async t => {
    await page.goto(`${server.url}/docs`)
    await edit.locator('.opblock-summary').click()
    await edit.locator('.execute').waitFor()
    t.equal(await page.title(), 'editd')
    t.strictSame(errors, [])
    t.strictSame([...new Set(requests.map(request => new URL(request.url()).host))], [`127.0.0.1:${server.port}`])
  })

  await t.test('shows the schema of a request and of a problem, with the references in it resolved', async t => {
    const schemaOf = async (what: Locator) => {
      await what.locator('.tablinks', { hasText: 'Schema' }).first().click()
      return textOf(what.locator('.model-box').first())
    }
    t.match(
      await schemaOf(edit.locator('.opblock-section-request-body')),
      /^EditRequest.* pathExpand .* old_textExpand /
    )
    // The example of a hash in another row has any digits.
    const problem = edit.locator('tr.response', { hasText: /^\s*422/ }).first()
    await problem.locator('button.more').click()
    t.match(await schemaOf(problem), /^Problem.* One ofExpand all\(object( \| object)+\) Discriminator/)
    await edit.locator('.tablinks', { hasText: 'Edit Value' }).first().click()
  })

  await t.test('asks for the token when a request needs it, and sends the request with it', async t => {
    await execute()
    await give('wrong')
    await edit.locator('.problem', { hasText: 'UNAUTHORIZED' }).waitFor()
    await give(TOKEN)
    await edit.locator('.problem', { hasText: 'FILE_NOT_FOUND' }).waitFor()
    t.notOk(existsSync(join(server.root, 'examples')), 'no file is made by itself')
    const create = edit.getByRole('button', { name: 'Create examples/hello.js, and send this again' })
    await create.click()
    t.match(await textOf(edit.locator('.done')), /^Would replace 1 occurrence in examples\/hello\.js/)
    t.equal(files(), HELLO)
    await edit.locator('.examples-select select').first().selectOption('one')
    await execute()
    await edit.locator('.done', { hasText: 'Successfully' }).waitFor()
    t.match(
      await textOf(edit.locator('.done')),
      /Successfully replaced 1 occurrence in examples\/hello\.js \(line 2\).* \+ console\.log\('Hello, ' \+ name\.trim\(\)\)/
    )
    t.notOk(await token.isVisible())
    t.equal(files(), HELLO.replace('+ name', '+ name.trim()'))
  })

  await t.test('shows a problem in words, and puts its fix into the request', async t => {
    await edit.locator('.examples-select select').first().selectOption('miss')
    await execute()
    const problem = edit.locator('.problem', { hasText: 'NO_MATCH' })
    const { body } = await server.call('POST', '/edit', { body: REQUEST_EXAMPLES.edit.miss!.value })
    t.ok((await textOf(problem)).includes(String(body.detail).replace(/\s+/g, ' ')), 'the detail is there')
    await problem.getByRole('button', { name: 'Put into the request' }).first().click()
    await execute()
    await edit.locator('.done', { hasText: 'line 1' }).waitFor()
    t.match(files(), 'for (const name of Deno.args.slice(2)) {')
  })

  await t.test('offers to create the file that an example edits, if it is missing', async t => {
    const offer = { name: /^Create examples/ }
    t.equal(await edit.getByRole('button', offer).count(), 0, 'the last request found it')
    for (const [name, path] of [
      ['edit_lines', 'examples/hello.js'],
      ['edit_section', 'examples/guide.md']
    ] as const) {
      const block = page.locator(`#operations-files-${name}`)
      if (name === 'edit_lines') rmSync(join(server.root, path))
      t.notOk(existsSync(join(server.root, path)))
      await block.locator('.opblock-summary').click()
      await block.locator('.execute').click()
      await block.getByRole('button', offer).click()
      await block.locator('.done', { hasText: path }).waitFor()
    }
  })

  await t.test('says why the file could not be created', async t => {
    const path = join(server.root, 'examples')
    rmSync(path, { recursive: true })
    await edit.locator('.examples-select select').first().selectOption('one')
    await execute()
    await edit.locator('.problem', { hasText: 'FILE_NOT_FOUND' }).waitFor()
    writeFileSync(path, '')
    await edit.getByRole('button', { name: /^Create examples/ }).click()
    await edit.locator('.problem p', { hasText: 'is not a directory' }).waitFor()
    rmSync(path)
    await edit.getByRole('button', { name: /^Create examples/ }).click()
    await edit.locator('.done', { hasText: 'Successfully' }).waitFor()
  })

  await t.test('offers nothing for a request of your own, and leads back to the review page', async t => {
    rmSync(join(server.root, 'examples/hello.js'))
    const own = { ...REQUEST_EXAMPLES.edit.one!.value, new_text: '+ name.toUpperCase()' }
    await edit.locator('textarea.body-param__text').fill(JSON.stringify(own))
    await execute()
    await edit.locator('.problem', { hasText: 'FILE_NOT_FOUND' }).waitFor()
    t.equal(await edit.getByRole('button', { name: /^Create examples/ }).count(), 0)
    t.notOk(existsSync(join(server.root, 'examples/hello.js')))
    t.equal(await page.locator('.home').innerText(), 'Review what agents did')
    t.equal(await page.evaluate("document.querySelector('.home a').href"), `${server.url}/`)
  })

  await t.test('is no wider than a narrow window', async t => {
    await page.setViewportSize({ width: 360, height: 800 })
    t.equal(
      await page.evaluate('document.documentElement.scrollWidth'),
      360,
      String(
        await page.evaluate(
          '[...document.querySelectorAll("*")].filter(e => e.getBoundingClientRect().right > 361).map(e => e.outerHTML.slice(0, 80))'
        )
      )
    )
  })

  t.strictSame(
    errors.filter(text => !/^Failed to load resource: .* status of (401|404|422)/.test(text)),
    [],
    'no other error'
  )
})
