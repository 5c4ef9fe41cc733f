-- flowrun in Neovim 0.8 or newer, written by flowrun init --editor neovim. With "set exrc", Neovim 0.9 reads this file as .nvim.lua of
-- the folder in which it starts, after it has asked; or put its lines into your init.lua.
vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
  pattern = { "*.flow.hcl", "*.flowtest.hcl" },
  callback = function(opened)
    vim.bo[opened.buf].filetype = "hcl"
    vim.lsp.start({ name = "flowrun", cmd = { "flowrun", "lsp" }, root_dir = vim.fn.getcwd() }, { bufnr = opened.buf })
  end,
})

-- The lenses over workflows and tests.
vim.lsp.commands["flowrun.run"] = function(c)
  vim.cmd("terminal flowrun apply " .. vim.fn.shellescape(c.arguments[1]) .. " " .. vim.fn.shellescape(c.arguments[2]))
end
vim.lsp.commands["flowrun.test"] = function(c)
  vim.cmd("terminal flowrun test " .. vim.fn.shellescape(c.arguments[1]) .. " --run " .. vim.fn.shellescape(c.arguments[3]))
end
vim.lsp.commands["flowrun.show"] = function()
  vim.cmd("terminal flowrun runs list")
end
