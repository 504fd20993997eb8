# Links and names in the workspace, which the engine looks at afterwards.
ln -s /etc/passwd link-passwd; ln -s / link-root; ln -s .. link-up; ln -s "$PWD" link-self
mkfifo fifo; mkdir -p a/b; ln -s ../../.. a/b/link-deep; touch "$(printf 'new\nline')" -- '-rf' 2>/dev/null
echo HELD
